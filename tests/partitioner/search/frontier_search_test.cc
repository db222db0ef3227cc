// Programs whose ops are better decided together than one at a time.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/analysis/program_statistics.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

WholeRun RunOf(const std::string& text, int64_t n, bool searched) {
  PartitionOptions options;
  options.num_partitions = n;
  if (!searched) options.strategies = NoSearch();
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*ProgramFor(text, n), options);
  EXPECT_OK(partitioned.status());
  return partitioned.ok() ? WorkOfWholeRun(*partitioned->module) : WholeRun();
}

// Decided alone, the first product is cut by rows like p0, and then moved for each of its users. Gathering
// the small p0 once lets all products be cut by columns.
constexpr char kMovedForEach[] = R"(
ENTRY main {
  p0 = f32[32,16] parameter(0), sharding={devices=[$n,1]<=[$n]}
  p1 = f32[16,64] parameter(1), sharding={devices=[1,$n]<=[$n]}
  v = f32[32,64] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  w = f32[32,64] tanh(v)
  g = f32[64,64] dot(w, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = (f32[32,64], f32[64,64]) tuple(w, g), sharding={{devices=[1,$n]<=[$n]}, {devices=[1,$n]<=[$n]}}
})";

TEST(FrontierSearchTest, AProductIsMadeWhereItsUsersNeedIt) {
  ExpectEquivalent(kMovedForEach);
  for (const int64_t n : {2, 4, 8}) {
    const WholeRun greedy = RunOf(kMovedForEach, n, 0), searched = RunOf(kMovedForEach, n, 20000);
    EXPECT_LE(searched.sent_bytes, greedy.sent_bytes);
    EXPECT_LE(searched.flops, greedy.flops);
    // p0 is gathered once, and w or v once; each device sends its 1/n of them n - 1 times.
    EXPECT_LE(searched.sent_bytes, static_cast<double>((n - 1) * (32 * 16 + 32 * 64) * 4 / n));
  }
}

// Two products of h with results cut by columns: h is gathered once for both.
TEST(FrontierSearchTest, WhatWasGatheredServesTheSecondProductToo) {
  const std::string text = R"(
ENTRY main {
  h = f32[8,16] parameter(0), sharding={devices=[1,$n]<=[$n]}
  k = f32[16,32] parameter(1), sharding={devices=[1,$n]<=[$n]}
  v = f32[16,16] parameter(2), sharding={replicated}
  a = f32[8,32] dot(h, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[8,16] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[8,32], f32[8,16]) tuple(a, b), sharding={{devices=[1,$n]<=[$n]}, {devices=[1,$n]<=[$n]}}
})";
  ExpectEquivalent(text);
  for (const int64_t n : {2, 4}) {
    EXPECT_EQ(RunOf(text, n, 20000).sent_bytes, static_cast<double>((n - 1) * 8 * 16 / n * 4));
  }
}

// There are too many ops to search them all together: the search takes the ops around each op that moves
// data.
TEST(FrontierSearchTest, LargeProgramsAreSearchedInParts) {
  std::string text = R"(
ENTRY main {
  x0 = f32[32,64] parameter(0), sharding={devices=[$n,1]<=[$n]}
)";
  constexpr int kLayers = 60;
  for (int i = 0; i < kLayers; ++i) {
    absl::StrAppend(&text, "  w", i, " = f32[64,64] parameter(", i + 1,
                    "), sharding={devices=[1,$n]<=[$n]}\n");
  }
  for (int i = 0; i < kLayers; ++i) {
    absl::StrAppend(&text, "  a", i, " = f32[32,64] dot(x", i, ", w", i,
                    "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  t", i, " = f32[32,64] tanh(a",
                    i, ")\n  b", i, " = f32[64,32] transpose(t", i, "), dimensions={1,0}\n  c", i,
                    " = f32[64,32] abs(b", i, ")\n  d", i, " = f32[32,64] transpose(c", i,
                    "), dimensions={1,0}\n  x", i + 1, " = f32[32,64] add(d", i, ", x", i, ")\n");
  }
  absl::StrAppend(&text, "  ROOT r = f32[32,64] add(x", kLayers, ", x", kLayers,
                  "), sharding={devices=[$n,1]<=[$n]}\n}");
  ExpectEquivalent(text, {}, {2, 4}, 1e-4);
  const WholeRun greedy = RunOf(text, 4, 0), searched = RunOf(text, 4, 20000);
  EXPECT_LE(searched.sent_bytes, greedy.sent_bytes);
  EXPECT_LE(searched.flops, greedy.flops);
}

// The state of a loop keeps its sharding at the ends of the body; bytes sent in the body count with its
// trips.
TEST(FrontierSearchTest, BodiesOfLoops) {
  const std::string text = R"(
body {
  s = (s32[], f32[16,32], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[16,32] get-tuple-element(s), index=1
  w = f32[32,32] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = f32[16,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[16,32] tanh(a)
  g = f32[32,32] dot(t, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  h = f32[32,32] tanh(g)
  y = f32[16,32] dot(t, h), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  u = f32[16,32] tanh(y)
  ROOT r = (s32[], f32[16,32], f32[32,32]) tuple(j, u, w)
}
condition {
  s = (s32[], f32[16,32], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[16,32] parameter(0), sharding={devices=[$n,1]<=[$n]}
  w = f32[32,32] parameter(1), sharding={devices=[1,$n]<=[$n]}
  zero = s32[] constant(0)
  s = (s32[], f32[16,32], f32[32,32]) tuple(zero, x, w)
  l = (s32[], f32[16,32], f32[32,32]) while(s), body=body, condition=condition
  ROOT y = f32[16,32] get-tuple-element(l), index=1
})";
  ExpectEquivalent(text, {}, {2, 4}, 1e-4);
  for (const int64_t n : {2, 4, 8}) {
    const WholeRun greedy = RunOf(text, n, 0), searched = RunOf(text, n, 20000);
    EXPECT_LE(searched.sent_bytes, greedy.sent_bytes);
    EXPECT_LE(searched.flops, greedy.flops);
  }
}

// Partial sums are passed on or reduced first, whichever is better for all ops together.
TEST(FrontierSearchTest, PartialSumsArePassedOnTogether) {
  const std::string text = R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[24,40] parameter(0), sharding={devices=[1,$n]<=[$n]}
  w = f32[40,24] parameter(1), sharding={devices=[$n,1]<=[$n]}
  zero = f32[] constant(0)
  a = f32[24,24] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[24,24] transpose(a), dimensions={1,0}
  c = f32[24,24] add(a, b)
  s = f32[24] reduce(c, zero), dimensions={1}, to_apply=add
  d = f32[24] reduce(a, zero), dimensions={0}, to_apply=add
  e = f32[24] add(s, d)
  ROOT y = f32[24] tanh(e), sharding={replicated}
})";
  ExpectEquivalent(text);
  for (const int64_t n : {2, 4, 8}) {
    // One all-reduce of 24 elements.
    EXPECT_EQ(RunOf(text, n, 20000).sent_bytes,
              2.0 * 24 * 4 * static_cast<double>(n - 1) / static_cast<double>(n));
  }
}

// If its operand is gathered, a broadcast is free in any sharding; if it is cut like its operand, it has to
// be gathered itself.
TEST(FrontierSearchTest, ABroadcastIsGatheredBeforeItIsMade) {
  const std::string text = R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  zero = f32[] constant(0)
  x = f32[32,64] parameter(0), sharding={devices=[$n,1]<=[$n]}
  y = f32[64,16] parameter(1), sharding={devices=[1,$n]<=[$n]}
  z = f32[32,16] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[16] reduce(z, zero), dimensions={0}, to_apply=add
  t = f32[16] tanh(s)
  u = f32[16,32] broadcast(t), dimensions={0}
  ROOT r = (f32[16], f32[16,32]) tuple(s, u), sharding={{devices=[$n]<=[$n]}, {replicated}}
})";
  ExpectEquivalent(text);
  for (const int64_t n : {2, 4, 8}) {
    // All-to-alls of both operands, and a reduce-scatter and an all-gather of the sums.
    const double tiles = 4.0 * (32 * 64 + 64 * 16) / static_cast<double>(n), sums = 2.0 * 4 * 16;
    EXPECT_LE(RunOf(text, n, 20000).sent_bytes,
              (tiles + sums) * static_cast<double>(n - 1) / static_cast<double>(n));
  }
}

}  // namespace
}  // namespace toroid
