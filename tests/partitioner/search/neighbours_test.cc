// Programs for which searching plans is better than deciding each op alone.
#include <string>

#include "gtest/gtest.h"
#include "hlo/analysis/program_statistics.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

struct Work {
  WholeRun run;
  std::vector<std::string> parameters;
};

Work WorkOf(const std::string& text, int64_t n, bool searched) {
  PartitionOptions options;
  options.num_partitions = n;
  if (!searched) options.strategies = NoSearch();
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*ProgramFor(text, n), options);
  EXPECT_OK(partitioned.status());
  Work work;
  if (!partitioned.ok()) return work;
  work.run = WorkOfWholeRun(*partitioned->module);
  for (const Instruction* parameter : partitioned->module->entry()->parameters()) {
    work.parameters.push_back(parameter->shape().ToString());
  }
  work.parameters.push_back(partitioned->module->entry()->root()->shape().ToString());
  return work;
}

// p is cut by rows, the results of its users by columns. Decided alone, each result is moved; moving p once
// serves all.
TEST(NeighbourSearchTest, AnOperandIsMovedOnceForAllItsUsers) {
  const std::string text = R"(
ENTRY main {
  p = f32[10,64] parameter(0), sharding={devices=[$n,1]<=[$n]}
  a = f32[10,64] negate(p)
  b = f32[64,10] transpose(p), dimensions={1,0}
  c = f32[10,64] abs(p)
  ROOT r = (f32[10,64], f32[64,10], f32[10,64]) tuple(a, b, c), sharding={{devices=[1,$n]<=[$n]}, {devices=[$n,1]<=[$n]}, {devices=[1,$n]<=[$n]}}
})";
  ExpectEquivalent(text);
  const Work greedy = WorkOf(text, 4, 0), searched = WorkOf(text, 4, 20000);
  EXPECT_EQ(greedy.run.sent_bytes, 3 * 576);
  EXPECT_EQ(searched.run.sent_bytes, 576);
}

// The ends of a chain want different shardings. Parameters and results, which the caller sees, keep their
// shardings.
TEST(NeighbourSearchTest, ParametersAndFreeResultsStayWherePropagationPutThem) {
  const std::string text = R"(
ENTRY main {
  p = f32[16,64] parameter(0), sharding={devices=[1,$n]<=[$n]}
  free = f32[16,64] parameter(1)
  v = f32[16,64] add(p, p)
  g = f32[64,64] dot(p, p), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  y = f32[64,16] dot(g, v), lhs_contracting_dims={0}, rhs_contracting_dims={1}
  z = f32[16,64] add(v, free)
  ROOT r = (f32[64,16], f32[16,64]) tuple(y, z)
})";
  ExpectEquivalent(text);
  const Work greedy = WorkOf(text, 8, 0), searched = WorkOf(text, 8, 20000);
  EXPECT_EQ(searched.parameters, greedy.parameters);
  EXPECT_TRUE(searched.run.CostsNoMoreThan(greedy.run));
}

// The sum over axis a is reduced in tiles over axis b in any case, so each device of b computes one of these
// tiles.
TEST(NeighbourSearchTest, AContractionIsCutOverAnIdleAxisIfNothingMoreIsSent) {
  const std::string text = R"(
ENTRY main {
  x = f32[12,16] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  y = f32[12,8] parameter(1), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  g = f32[16,8] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT out = f32[16,8] copy(g), sharding={devices=[1,2,2]<=[4] last_tile_dim_replicate}
})";
  ExpectEquivalent(text, {}, {4});
  const Work greedy = WorkOf(text, 4, 0), searched = WorkOf(text, 4, 20000);
  EXPECT_TRUE(searched.run.CostsNoMoreThan(greedy.run));
}

// A search may want the result of a loop whole before its users. It is made so by a user that needs it, or not at all: the plan
// then says how the broadcast is computed.
TEST(NeighbourSearchTest, TheResultOfALoopIsNotCopiedBeforeItsUsers) {
  const std::string text = R"(
step {
  x = s32[8,6] parameter(0)
  c = s32[8,6] parameter(1)
  n = s32[8,6] negate(c)
  s = s32[8,6] maximum(x, n)
  ROOT t = (s32[8,6], s32[8,6]) tuple(s, s)
}

ENTRY main {
  p0 = s32[8,1,6] parameter(0), sharding={devices=[1,2,2,3]<=[6,2]T(1,0) last_tile_dim_replicate}
  p1 = s32[8,6] parameter(1), sharding={devices=[3,4]<=[2,6]T(1,0)}
  all = (s32[8,1,6], s32[8,6]) scan(p0, p1), dimensions={1}, num_carries=1, to_apply=step
  r = s32[8,1,6] get-tuple-element(all), index=0
  ROOT wide = s32[8,1,6,3] broadcast(r), dimensions={0,1,2}, sharding={replicated}
})";
  ExpectEquivalent(text, {}, {12});
  const Work greedy = WorkOf(text, 12, false), searched = WorkOf(text, 12, true);
  EXPECT_TRUE(searched.run.CostsNoMoreThan(greedy.run));
}

}  // namespace
}  // namespace toroid
