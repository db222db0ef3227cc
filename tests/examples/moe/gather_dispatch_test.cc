// BUILD: size = "small"
#include "examples/moe/gather_dispatch.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/moe/training_step.h"
#include "examples/moe/transformer.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/program_statistics.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// Tokens with some padding; weights and draws in [0, 1), without a pattern.
std::vector<Literal> RandomArguments(const Module& module, int64_t vocabulary) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<float> weight(-0.5f, 0.5f), draw(0, 1);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    Literal literal(parameter->shape());
    switch (parameter->shape().element_type()) {
      case xla::S32:
        if (parameter->shape().rank() == 0) break;  // The step.
        for (int32_t& token : literal.mutable_data<int32_t>())
          token = static_cast<int32_t>(random() % vocabulary);
        break;
      case xla::U32:
        literal.mutable_data<uint32_t>()[0] = 5;
        break;
      default:
        for (float& x : literal.mutable_data<float>())
          x = parameter->name() == "uniform" ? draw(random) : weight(random);
    }
    arguments.push_back(std::move(literal));
  }
  return arguments;
}

struct Case {
  int64_t devices, groups, experts, sequence_length;
  bool padding;
};
// One device; one device per group; groups on several devices; several groups on one device. 16 experts have
// room for one token each, so most tokens overflow.
constexpr Case kCases[] = {{1, 2, 4, 4, false}, {2, 2, 4, 4, true},  {4, 4, 16, 4, false},
                           {8, 4, 3, 4, true},  {2, 6, 16, 4, true}, {6, 6, 6, 5, false}};

MoeTransformerConfig ConfigOf(const Case& c, Dispatch dispatch) {
  MoeTransformerConfig config = TinyConfig();
  config.devices = c.devices;
  config.groups = c.groups;
  config.experts = c.experts;
  config.sequence_length = c.sequence_length;
  config.padding = c.padding;
  config.dispatch = dispatch;
  return config;
}

std::string NameOf(const Case& c) {
  return absl::StrCat(c.devices, " devices, ", c.groups, " groups, ", c.experts, " experts",
                      c.padding ? ", padding" : "");
}

// The program by rows on a mesh gives the result of the program by masks on one device.
void ExpectSame(const Module& by_rows, const Module& by_masks, int64_t vocabulary) {
  const std::vector<Literal> arguments = RandomArguments(by_masks, vocabulary);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(by_masks, arguments));
  for (const bool poisoned : {false, true}) {
    SCOPED_TRACE(poisoned ? "poisoned" : "plain");
    PartitionOptions options;
    if (poisoned) options.on_local_value = PoisonPadding;
    ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(by_rows, options, arguments));
    const Comparison comparison = Compare(actual, expected, 2e-5);
    for (const ArrayComparison& output : comparison.outputs) EXPECT_EQ(output.difference, "");
  }
}

TEST(GatherDispatchTest, TheForwardPassIsThatOfMasks) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(NameOf(c));
    ASSERT_OK_AND_ASSIGN(const auto rows, BuildMoeTransformer(ConfigOf(c, Dispatch::kGather)));
    ASSERT_OK_AND_ASSIGN(const auto masks, BuildMoeTransformer(ConfigOf(c, Dispatch::kEinsum)));
    ExpectSame(*rows, *masks, TinyConfig().target_vocabulary);
  }
}

TEST(GatherDispatchTest, TheTrainingStepIsThatOfMasks) {
  for (const Case& c : kCases) {
    for (const Remat remat : {Remat::kNone, Remat::kLayers}) {
      SCOPED_TRACE(absl::StrCat(NameOf(c), remat == Remat::kNone ? "" : ", layers computed again"));
      TrainingOptions options;
      options.remat = remat;
      ASSERT_OK_AND_ASSIGN(const TrainingStep rows,
                           BuildTrainingStep(ConfigOf(c, Dispatch::kGather), options));
      ASSERT_OK_AND_ASSIGN(const TrainingStep masks,
                           BuildTrainingStep(ConfigOf(c, Dispatch::kEinsum), options));
      ExpectSame(*rows.module, *masks.module, TinyConfig().target_vocabulary);
    }
  }
}

// Op by op: a search cuts the updates of some weights, not the same ones in both programs.
std::map<std::string, int64_t> Collectives(const Module& module) {
  PartitionOptions options;
  options.strategies = NoSearch();
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(module, options);
  std::map<std::string, int64_t> counts;
  if (!partitioned.ok()) return {{std::string(partitioned.status().message()), 0}};
  for (const CollectiveRecord& record : ListCollectives(*partitioned->module)) ++counts[record.opcode];
  return counts;
}

TEST(GatherDispatchTest, CollectivesAreThoseOfMasks) {
  MoeTransformerConfig config = PaperConfig(128, 12);
  std::map<std::string, int64_t> counts[2];
  for (const Dispatch dispatch : {Dispatch::kEinsum, Dispatch::kGather}) {
    config.dispatch = dispatch;
    ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, TrainingOptions()));
    counts[dispatch == Dispatch::kGather] = Collectives(*training.module);
  }
  EXPECT_EQ(counts[1], counts[0]);
  EXPECT_EQ(counts[1]["all-to-all"], 4 * config.moe_layers());
}

// The gradients of weights that all devices hold are scattered, each device updates a part, and the parts are gathered.
TEST(GatherDispatchTest, ASearchCutsTheUpdatesOfWeights) {
  ASSERT_OK_AND_ASSIGN(const TrainingStep training,
                       BuildTrainingStep(PaperConfig(128, 12), TrainingOptions()));
  double sent[2] = {};
  for (const bool searches : {false, true}) {
    PartitionOptions options;
    if (!searches) options.strategies = NoSearch();
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*training.module, options));
    sent[searches] = WorkOfWholeRun(*partitioned.module).sent_bytes;
  }
  EXPECT_LT(sent[1], 0.9 * sent[0]);
}

TEST(GatherDispatchTest, BadInputIsOneLine) {
  EXPECT_THAT(ParseDispatch("sort"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("einsum or gather")));
  MoeTransformerConfig config = TinyConfig();
  config.devices = 4;
  config.groups = 6;
  config.dispatch = Dispatch::kGather;
  EXPECT_THAT(BuildMoeTransformer(config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("6 groups")));
}

}  // namespace
}  // namespace toroid
