// BUILD: size = "small"
#include "examples/moe/pipeline.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "examples/moe/training_step.h"
#include "examples/moe/transformer.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/gradient/gradient.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

MoeTransformerConfig DenseConfig(int64_t layers) {
  MoeTransformerConfig config = TinyConfig();
  config.experts = 0;
  config.layers = layers;
  config.dropout = 0;
  return config;
}

// One layer and one column per stage; several of both, and several groups per device.
struct Case {
  int64_t layers, devices, groups, stages, sequences, microbatches;
};
constexpr Case kCases[] = {{4, 2, 2, 2, 2, 2}, {8, 4, 4, 2, 6, 6}, {8, 8, 16, 4, 2, 8}};

MoeTransformerConfig ConfigOf(const Case& c) {
  MoeTransformerConfig config = DenseConfig(c.layers);
  config.devices = c.devices;
  config.groups = c.groups;
  config.stages = c.stages;
  config.sequences = c.sequences;
  config.microbatches = c.microbatches;
  return config;
}

Literal Random(const Shape& shape, std::mt19937_64* random) {
  std::uniform_real_distribution<float> weight(-0.5f, 0.5f);
  Literal literal(shape);
  switch (shape.element_type()) {
    case xla::S32:
      if (shape.rank() == 0) break;  // The step.
      for (int32_t& token : literal.mutable_data<int32_t>()) token = static_cast<int32_t>((*random)() % 10);
      break;
    case xla::U32:
      literal.mutable_data<uint32_t>()[0] = 5;
      break;
    default:
      for (float& x : literal.mutable_data<float>()) x = weight(*random);
  }
  return literal;
}

// "encoder.layer_3.self.wq" gives "encoder.self.wq" and 3; a name without a layer gives itself and -1.
std::pair<std::string, int64_t> Stacked(const std::string& name) {
  const size_t at = name.find(".layer_");
  if (at == std::string::npos) return {name, -1};
  const size_t end = name.find('.', at + 1);
  int64_t layer = 0;
  EXPECT_TRUE(absl::SimpleAtoi(name.substr(at + 7, end - at - 7), &layer));
  return {name.substr(0, at) + name.substr(end), layer};
}

// Part `layer` of an array that is divided, row-major, into as many parts as the product of its first two
// dimensions.
Literal LayerOf(const Literal& stacked, const Shape& shape, int64_t layer) {
  Literal part(shape);
  std::copy_n(stacked.data<float>().begin() + layer * shape.NumElements(), shape.NumElements(),
              part.mutable_data<float>().begin());
  return part;
}

// The derivative by each weight, by the name of its parameter.
std::map<std::string, Literal> Gradients(const Module& loss, const std::vector<Literal>& arguments,
                                         double* value) {
  std::vector<int64_t> numbers;
  std::vector<std::string> names;
  for (const Instruction* parameter : loss.entry()->parameters()) {
    if (parameter->shape().element_type() != xla::F32 || parameter->name() == "uniform") continue;
    numbers.push_back(parameter->parameter_number());
    names.push_back(parameter->name());
  }
  std::map<std::string, Literal> gradients;
  const absl::StatusOr<std::unique_ptr<Module>> module = GradientModule(loss, numbers, GradientOptions());
  EXPECT_OK(module.status());
  if (!module.ok()) return gradients;
  EXPECT_OK(VerifyModule(**module));
  const absl::StatusOr<Literal> result = RunSingle(**module, arguments);
  EXPECT_OK(result.status());
  if (!result.ok()) return gradients;
  *value = result->element(0).data<float>()[0];
  for (size_t i = 0; i < names.size(); ++i)
    gradients.emplace(names[i], result->element(static_cast<int>(i) + 1));
  return gradients;
}

TEST(PipelineTest, LossAndGradientsAreThoseOfLayerAfterLayer) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(absl::StrCat(c.layers, " layers in ", c.stages, " stages"));
    MoeTransformerConfig config = ConfigOf(c);
    ASSERT_OK_AND_ASSIGN(const auto pipeline, BuildMoeTransformer(config));
    EXPECT_OK(VerifyModule(*pipeline));
    config.stages = config.microbatches = 1;
    ASSERT_OK_AND_ASSIGN(const auto plain, BuildMoeTransformer(config));
    std::mt19937_64 random(4);
    std::map<std::string, Literal> by_name;
    std::vector<Literal> arguments, plain_arguments;
    for (const Instruction* parameter : pipeline->entry()->parameters()) {
      arguments.push_back(Random(parameter->shape(), &random));
      by_name.emplace(parameter->name(), arguments.back());
    }
    for (const Instruction* parameter : plain->entry()->parameters()) {
      const auto [name, layer] = Stacked(std::string(parameter->name()));
      ASSERT_TRUE(by_name.contains(name)) << name;
      plain_arguments.push_back(layer < 0 ? by_name.at(name)
                                          : LayerOf(by_name.at(name), parameter->shape(), layer));
    }
    double loss = 0, expected_loss = 1;
    const std::map<std::string, Literal> gradients = Gradients(*pipeline, arguments, &loss);
    const std::map<std::string, Literal> expected = Gradients(*plain, plain_arguments, &expected_loss);
    EXPECT_NEAR(loss, expected_loss, 1e-5 * expected_loss);
    for (const auto& [full_name, gradient] : expected) {
      const auto [name, layer] = Stacked(full_name);
      ASSERT_TRUE(gradients.contains(name)) << name;
      const Literal actual =
          layer < 0 ? gradients.at(name) : LayerOf(gradients.at(name), gradient.shape(), layer);
      const Comparison comparison = Compare(actual, gradient, 2e-5);
      EXPECT_TRUE(comparison.equal) << full_name << " " << comparison.outputs[0].difference;
    }
  }
}

TEST(PipelineTest, ThePartitionedTrainingStepIsTheWholeOne) {
  for (const Case& c : kCases) {
    for (const Remat remat : {Remat::kNone, Remat::kLayers}) {
      SCOPED_TRACE(absl::StrCat(c.layers, " layers in ", c.stages, " stages",
                                remat == Remat::kNone ? "" : ", computed again"));
      MoeTransformerConfig config = ConfigOf(c);
      config.dropout = 0.1;
      TrainingOptions options;
      options.remat = remat;
      ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, options));
      EXPECT_OK(VerifyModule(*training.module));
      std::mt19937_64 random(5);
      std::vector<Literal> arguments;
      for (const Instruction* parameter : training.module->entry()->parameters()) {
        arguments.push_back(Random(parameter->shape(), &random));
      }
      ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*training.module, arguments));
      for (const bool is_hard : {false, true}) {
        PartitionOptions partitioning;
        if (is_hard) {
          partitioning.on_local_value = PoisonPadding;
          partitioning.device_order_seed = 5;
        }
        ASSERT_OK_AND_ASSIGN(const Literal actual,
                             PartitionAndRun(*training.module, partitioning, arguments));
        const Comparison comparison = Compare(actual, expected, 2e-5);
        for (const ArrayComparison& output : comparison.outputs) EXPECT_EQ(output.difference, "");
      }
    }
  }
}

// Recomputing the layers draws the same random numbers.
TEST(PipelineTest, RecomputationChangesNothing) {
  MoeTransformerConfig config = ConfigOf(kCases[1]);
  config.dropout = 0.1;
  std::vector<Literal> results;
  for (const Remat remat : {Remat::kNone, Remat::kDots, Remat::kLayers}) {
    TrainingOptions options;
    options.remat = remat;
    ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, options));
    std::mt19937_64 random(5);
    std::vector<Literal> arguments;
    for (const Instruction* parameter : training.module->entry()->parameters()) {
      arguments.push_back(Random(parameter->shape(), &random));
    }
    ASSERT_OK_AND_ASSIGN(Literal result, RunSingle(*training.module, arguments));
    results.push_back(std::move(result));
  }
  EXPECT_TRUE(Compare(results[1], results[0], 1e-6).equal);
  EXPECT_TRUE(Compare(results[2], results[0], 1e-6).equal);
}

TEST(PipelineTest, BetweenStagesOnlyPermutesTravel) {
  ASSERT_OK_AND_ASSIGN(const auto module, BuildMoeTransformer(ConfigOf(kCases[2])));
  PartitionOptions options;
  options.strategies = NoSearch();  // For layers as small as these, the search prefers other exchanges.
  ASSERT_OK_AND_ASSIGN(const Partitioned forward, PartitionModule(*module, options));
  EXPECT_TRUE(forward.full_replications.empty());
  // Encoder: its state and its stream. Decoder: these, and those of the memory.
  int64_t permutes = 0;
  for (const CollectiveRecord& record : ListCollectives(*forward.module)) {
    if (record.opcode == "collective-permute") {
      ++permutes;
      EXPECT_EQ(record.executions.times, 8 + 4 - 1);
      continue;
    }
    EXPECT_EQ(record.opcode, "all-reduce") << record.cause;
    EXPECT_LE(record.operand_bytes, 8) << record.cause;  // The loss.
  }
  EXPECT_EQ(permutes, 2 + 4);

  ASSERT_OK_AND_ASSIGN(const TrainingStep training,
                       BuildTrainingStep(ConfigOf(kCases[2]), TrainingOptions()));
  ASSERT_OK_AND_ASSIGN(const Partitioned step, PartitionModule(*training.module, options));
  for (const CollectiveRecord& record : ListCollectives(*step.module)) {
    EXPECT_NE(record.opcode, "all-to-all") << record.cause;
    if (record.opcode == "collective-permute") continue;
    EXPECT_EQ(record.executions.times, 1) << record.opcode << " " << record.cause;
  }
}

TEST(PipelineTest, TheDenseModelOfThePaperHas2Point3BillionWeights) {
  ASSERT_OK_AND_ASSIGN(const MoeTransformerConfig config, PaperConfig("t_96l"));
  ASSERT_OK_AND_ASSIGN(const TrainingStep training, BuildTrainingStep(config, TrainingOptions()));
  double weights = 0;
  for (const StateArray& array : training.state) {
    if (array.kind == StateArray::Kind::kWeight) weights += static_cast<double>(array.shape.NumElements());
  }
  EXPECT_NEAR(weights, 2.3e9, 0.06e9);
}

TEST(PipelineTest, StagesThatDoNotComeOutEvenAreRefused) {
  MoeTransformerConfig config = ConfigOf(kCases[1]);
  config.stages = 3;
  EXPECT_THAT(BuildMoeTransformer(config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("3 stages")));
  config = ConfigOf(kCases[1]);
  config.microbatches = 8;
  EXPECT_THAT(BuildMoeTransformer(config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("6 sequences")));
  config = ConfigOf(kCases[1]);
  config.experts = 4;
  EXPECT_THAT(BuildMoeTransformer(config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("neither experts")));
  TrainingOptions options;
  options.remat = Remat::kLayerDots;
  EXPECT_THAT(BuildTrainingStep(ConfigOf(kCases[1]), options),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("use layers")));
}

}  // namespace
}  // namespace toroid
