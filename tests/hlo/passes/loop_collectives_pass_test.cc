#include "hlo/passes/loop_collectives_pass.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/analysis/program_statistics.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr char kAll[] = "replica_groups={{0,1,2}}, channel_id=1, use_global_device_ids=true";

// A loop of $t trips over (i, w, x, sum); `body` computes next.w, next.x and next.sum.
std::string After(const std::string& body, int64_t trips, bool changes = true,
                  int64_t most_bytes = kHeldThroughLoopBytes, const std::string& condition = "i, n") {
  LoopCollectivesPass pass(most_bytes);
  const std::string computations =
      absl::StrReplaceAll(absl::StrCat(R"(
more {
  s = (s32[], f32[2,3], f32[6,3], f32[6,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant($t)
  ROOT m = pred[] compare($c), direction=LT
}
step {
  s = (s32[], f32[2,3], f32[6,3], f32[6,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next.i = s32[] add(i, one)
  w = f32[2,3] get-tuple-element(s), index=1
  x = f32[6,3] get-tuple-element(s), index=2
  sum = f32[6,3] get-tuple-element(s), index=3
)",
                                       body, R"(
  ROOT t = (s32[], f32[2,3], f32[6,3], f32[6,3]) tuple(next.i, next.w, next.x, next.sum)
}
)"),
                          {{"$t", absl::StrCat(trips)}, {"$all", kAll}, {"$c", condition}});
  return SameAfterPass(&pass, R"(
  w0 = f32[2,3] parameter(0)
  x0 = f32[6,3] parameter(1)
  sum0 = f32[6,3] parameter(2)
  zero = s32[] constant(0)
  s0 = (s32[], f32[2,3], f32[6,3], f32[6,3]) tuple(zero, w0, x0, sum0)
  ROOT v = (s32[], f32[2,3], f32[6,3], f32[6,3]) while(s0), condition=more, body=step
)",
                       ReducerText("add", "f32", "add") + ReducerText("max", "f32", "maximum") + computations,
                       3, changes);
}

std::string EntryOf(const std::string& text) { return text.substr(text.find("ENTRY")); }

TEST(LoopCollectivesPassTest, AGatherOfWhatTheLoopHandsOnStandsInFrontOfIt) {
  const std::string body = R"(
  next.w = f32[2,3] copy(w)
  v = f32[2,3] get-tuple-element(s), index=1
  n = f32[2,3] negate(v)
  g = f32[6,3] all-gather(n), $all, dimensions={0}
  next.x = f32[6,3] add(x, g)
  next.sum = f32[6,3] subtract(sum, g)
)";
  // Only if it is handed on unchanged.
  After(body, 3, /*changes=*/false);
  const std::string handed_on = absl::StrReplaceAll(
      body, {{"  next.w = f32[2,3] copy(w)\n", ""}, {"v = f32", "next.w = f32"}, {"(v)", "(next.w)"}});
  for (const int64_t trips : {0, 1, 3})
    EXPECT_THAT(EntryOf(After(handed_on, trips)), HasSubstr(" all-gather("));
  EXPECT_THAT(EntryOf(After(handed_on, 3, /*changes=*/true, /*most_bytes=*/48)), HasSubstr(" all-gather("));
  After(handed_on, 3, /*changes=*/false, /*most_bytes=*/47);
}

TEST(LoopCollectivesPassTest, SumsThatAreAddedUpAreReducedBehindTheLoop) {
  const std::string body = R"(
  next.w = f32[2,3] get-tuple-element(s), index=1
  next.x = f32[6,3] negate(x)
  r = f32[6,3] all-reduce(next.x), $all, to_apply=add
  $m
  next.sum = f32[6,3] add(sum, y)
)";
  const std::string plain = absl::StrReplaceAll(body, {{"$m", ""}, {", y)", ", r)"}});
  for (const int64_t trips : {2, 5}) {
    const std::string text = After(plain, trips);
    EXPECT_THAT(EntryOf(text), HasSubstr(" all-reduce("));
    EXPECT_EQ(CountOf(text, " all-reduce("), 1);
  }
  EXPECT_THAT(EntryOf(After(absl::StrReplaceAll(body, {{"$m", "y = f32[6,3] negate(r)"}}), 4)),
              HasSubstr(" all-reduce("));
  // A loop of one trip gains nothing.
  After(plain, 1, /*changes=*/false);
  After(plain, 0, /*changes=*/false);
  // No plain sum: a maximum, a function of the sum, another user of it.
  After(absl::StrReplaceAll(plain, {{"to_apply=add", "to_apply=max"}}), 3, /*changes=*/false);
  After(absl::StrReplaceAll(body, {{"$m", "y = f32[6,3] abs(r)"}}), 3, /*changes=*/false);
  After(absl::StrReplaceAll(plain, {{"negate(x)", "add(x, sum)"}}), 3, /*changes=*/false);
  After(absl::StrReplaceAll(body, {{"$m", "y = f32[6,3] add(r, r)"}}), 3, /*changes=*/false);
}

TEST(LoopCollectivesPassTest, InnerLoopsGiveToOuterOnes) {
  LoopCollectivesPass pass;
  const std::string text = SameAfterPass(&pass, R"(
  w0 = f32[2,3] parameter(0)
  x0 = f32[6,3] parameter(1)
  zero = s32[] constant(0)
  s0 = (s32[], f32[2,3], f32[6,3]) tuple(zero, w0, x0)
  v = (s32[], f32[2,3], f32[6,3]) while(s0), condition=outer_more, body=outer
  ROOT x = f32[6,3] get-tuple-element(v), index=2
)",
                                         absl::StrReplaceAll(R"(
more {
  s = (s32[], f32[2,3], f32[6,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT m = pred[] compare(i, n), direction=LT
}
outer_more {
  s = (s32[], f32[2,3], f32[6,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT m = pred[] compare(i, n), direction=LT
}
inner {
  s = (s32[], f32[2,3], f32[6,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[2,3] get-tuple-element(s), index=1
  x = f32[6,3] get-tuple-element(s), index=2
  g = f32[6,3] all-gather(w), $all, dimensions={0}
  y = f32[6,3] add(x, g)
  ROOT t = (s32[], f32[2,3], f32[6,3]) tuple(j, w, y)
}
outer {
  s = (s32[], f32[2,3], f32[6,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[2,3] get-tuple-element(s), index=1
  x = f32[6,3] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  s1 = (s32[], f32[2,3], f32[6,3]) tuple(zero, w, x)
  v = (s32[], f32[2,3], f32[6,3]) while(s1), condition=more, body=inner
  y = f32[6,3] get-tuple-element(v), index=2
  ROOT t = (s32[], f32[2,3], f32[6,3]) tuple(j, w, y)
}
)",
                                                             {{"$all", kAll}}),
                                         3);
  EXPECT_THAT(EntryOf(text), HasSubstr(" all-gather("));
  EXPECT_EQ(CountOf(text, " all-gather("), 1);
}

// Gradients of microbatches: the terms of the batch's parts are added up in a loop.
std::string Microbatches(int64_t rows, int64_t trips) {
  return absl::StrReplaceAll(R"(
more {
  s = (s32[], f32[4,$b,8], f32[8,6], f32[8,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant($t)
  ROOT m = pred[] compare(i, n), direction=LT
}
step {
  s = (s32[], f32[4,$b,8], f32[8,6], f32[8,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  xs = f32[4,$b,8] get-tuple-element(s), index=1
  w = f32[8,6] get-tuple-element(s), index=2
  g = f32[8,6] get-tuple-element(s), index=3
  zero = s32[] constant(0)
  x1 = f32[1,$b,8] dynamic-slice(xs, i, zero, zero), dynamic_slice_sizes={1,$b,8}
  x = f32[$b,8] reshape(x1)
  y = f32[$b,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[8,6] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  h = f32[8,6] add(g, d)
  ROOT t = (s32[], f32[4,$b,8], f32[8,6], f32[8,6]) tuple(j, xs, w, h)
}
ENTRY main {
  xs = f32[4,$b,8] parameter(0), sharding={devices=[1,$n,1]<=[$n]}
  w = f32[8,6] parameter(1), sharding={replicated}
  z = f32[] constant(0)
  zs = f32[8,6] broadcast(z), dimensions={}
  zero = s32[] constant(0)
  s = (s32[], f32[4,$b,8], f32[8,6], f32[8,6]) tuple(zero, xs, w, zs)
  v = (s32[], f32[4,$b,8], f32[8,6], f32[8,6]) while(s), condition=more, body=step
  g = f32[8,6] get-tuple-element(v), index=3
  ROOT r = f32[8,6] custom-call(g), custom_call_target="Sharding", sharding={replicated}
})",
                             {{"$b", absl::StrCat(rows)}, {"$t", absl::StrCat(trips)}});
}

TEST(LoopCollectivesPassTest, GradientsOfMicrobatchesAreReducedOnce) {
  for (const int64_t rows : {7, 16}) ExpectEquivalent(Microbatches(rows, 4));
  const auto partitioned = PartitionModule(*ProgramFor(Microbatches(16, 4), 8), {});
  ASSERT_OK(partitioned.status());
  EXPECT_EQ(WorkOfWholeRun(*partitioned->module).sent_bytes, 2 * 8 * 6 * 4 * 7 / 8)
      << "an all-reduce of f32[8,6] over 8, not four";
}

}  // namespace
}  // namespace toroid
