// BUILD: size = "small"
// The stages of partitioning by themselves: plans are proposed and evaluated without writing a module.
#include "partitioner/prepare/prepared_program.h"

#include <algorithm>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/sharding_text.h"
#include "partitioner/search/strategies.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// Two layers; the weights of the second have no sharding.
const char kLayers[] = R"(HloModule layers
ENTRY main {
  x = f32[64,128] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
  up = f32[128,256] parameter(1), sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  down = f32[256,128] parameter(2)
  h = f32[64,256] dot(x, up), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a = f32[64,256] tanh(h)
  ROOT y = f32[64,128] dot(a, down), lhs_contracting_dims={1}, rhs_contracting_dims={0},
    sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
})";

HloSharding ShardingOf(absl::string_view text) {
  auto proto = ParseSharding(text);
  EXPECT_OK(proto.status());
  return HloSharding::FromProto(*proto).value();
}

int64_t SentBy(const Partitioned& partitioned) {
  int64_t bytes = 0;
  for (const auto& [opcode, totals] : ComputeStatistics(*partitioned.module).collectives)
    bytes += totals.sent_bytes;
  return bytes;
}

// Dead instructions send nothing and are not searched; a sharding given to one is dropped with it.
TEST(PreparedProgramTest, WhatNothingNeedsIsNotPartitioned) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module, ParseModule(R"(ENTRY main {
  x = f32[64,128] parameter(0), sharding={devices=[8,1]<=[8]}
  w = f32[64,64] parameter(1), sharding={replicated}
  unused = f32[64,128] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  also_unused = f32[64,128] negate(unused), sharding={devices=[1,8]<=[8]}
  ROOT y = f32[64,128] negate(x), sharding={devices=[8,1]<=[8]}
})"));
  const auto& instructions = module->entry()->instructions();
  const auto unused = std::find_if(instructions.begin(), instructions.end(),
                                   [](const auto& i) { return i->name() == "also_unused"; });
  ASSERT_NE(unused, instructions.end());
  (*unused)->GiveSharding((*unused)->sharding());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PreparedProgram> program,
                       PrepareProgram(*module, PartitionOptions()));
  EXPECT_EQ(program->flat->NumInstructions(), 3);  // Keeps w, because it is a parameter.
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  EXPECT_EQ(SentBy(partitioned), 0);
}

TEST(PreparedProgramTest, CandidatesAreComparedWithoutPreparingAgain) {
  const auto module = ParseModule(kLayers);
  ASSERT_OK(module.status());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PreparedProgram> program,
                       PrepareProgram(**module, PartitionOptions()));
  const int down = program->graph->Leaves(*program->flat->entry()->parameter(2))[0];
  // If the rows of `down` are cut like the columns of `up`, sums are partial; if its columns are cut, the
  // activations are gathered.
  const std::string rows = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}";
  const std::string columns = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}";
  for (const std::string& candidate : {rows, columns}) {
    SCOPED_TRACE(candidate);
    ASSERT_OK(GiveSharding(down, ShardingOf(candidate), program.get()));
    PlanMemo memo(*program);
    const std::optional<PricedPlan> plan = Propagated(CheapestAssignments(), &memo);
    ASSERT_TRUE(plan.has_value());
    // Compares with the module partitioned under that sharding.
    const auto given = ParseModule(kLayers);
    ASSERT_OK_AND_ASSIGN(const xla::OpSharding proto, ParseSharding(candidate));
    (*given)->entry()->parameter(2)->set_sharding((*given)->New(proto));
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(**given, PartitionOptions()));
    EXPECT_EQ(plan->price.sent_bytes, static_cast<double>(SentBy(partitioned)));
    EXPECT_EQ(plan->price.flops, static_cast<double>(ComputeStatistics(*partitioned.module).flops));
    EXPECT_GE(plan->price.time, plan->price.sent_bytes);
  }
}

TEST(PreparedProgramTest, LoopsCountWithTheirTrips) {
  const auto module = ParseModule(R"(HloModule loop
body {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[8,8]) tuple(j, y)
}
condition {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[8,8] parameter(0), sharding={devices=[4,1]<=[4]}
  z = s32[] constant(0)
  t = (s32[], f32[8,8]) tuple(z, x)
  w = (s32[], f32[8,8]) while(t), condition=condition, body=body
  ROOT r = f32[8,8] get-tuple-element(w), index=1
})");
  ASSERT_OK(module.status());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PreparedProgram> program,
                       PrepareProgram(**module, PartitionOptions()));
  PlanMemo memo(*program);
  const std::optional<PricedPlan> plan = Propagated(CheapestAssignments(), &memo);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->price.flops, 7 * 2 * 2 * 8 * 8);
  EXPECT_EQ(plan->price.sent_bytes, 7 * 3 * 2 * 8 * 4) << "x is gathered each time";
}

TEST(PreparedProgramTest, ShardingsThatDoNotFitAreErrors) {
  const auto module = ParseModule(kLayers);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<PreparedProgram> program,
                       PrepareProgram(**module, PartitionOptions()));
  const int down = program->graph->Leaves(*program->flat->entry()->parameter(2))[0];
  EXPECT_THAT(GiveSharding(down, ShardingOf("{devices=[8]<=[8]}"), program.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("data dimensions")));
  EXPECT_THAT(
      GiveSharding(down, ShardingOf("{devices=[2,1,4]7,1,2,3,4,5,6,0 last_tile_dim_replicate}"),
                   program.get()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("where no sharding of the module does")));
}

TEST(PreparedProgramTest, ACostModelChangesWhatIsWritten) {
  // A sum over all devices is all-reduced; if an all-reduce is expensive, it is reduce-scattered and
  // gathered.
  class Dear : public CostModel {
   public:
    double CollectiveTime(CollectiveKind kind, int64_t bytes, const Mesh& mesh,
                          const AxisList& axes) const override {
      return DefaultCostModel().CollectiveTime(kind, bytes, mesh, axes) *
             (kind == CollectiveKind::kAllReduce ? 3 : 1);
    }
    double PermuteDelay(int64_t count) const override { return DefaultCostModel().PermuteDelay(count); }
    double MemoryTime(double bytes) const override { return DefaultCostModel().MemoryTime(bytes); }
    double OpTime(const Work& work) const override { return DefaultCostModel().OpTime(work); }
    double SecondsPerLinkByte() const override { return DefaultCostModel().SecondsPerLinkByte(); }
  };
  const auto module = ParseModule(
      "ENTRY main { x = f32[8,8] parameter(0), sharding={devices=[1,4]<=[4]} "
      "w = f32[8,8] parameter(1), sharding={devices=[4,1]<=[4]} "
      "ROOT y = f32[8,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated} }");
  ASSERT_OK(module.status());
  const auto collectives = [&](const CostModel* cost) {
    PartitionOptions options;
    options.cost = cost;
    options.strategies = NoSearch();
    const auto partitioned = PartitionModule(**module, options);
    EXPECT_OK(partitioned.status());
    return ComputeStatistics(*partitioned->module).collectives;
  };
  EXPECT_EQ(collectives(&DefaultCostModel()).count("all-reduce"), 1);
  const Dear dear;
  EXPECT_EQ(collectives(&dear).count("all-reduce"), 0);
  EXPECT_EQ(collectives(&dear).count("all-gather"), 1);
}

}  // namespace
}  // namespace toroid
