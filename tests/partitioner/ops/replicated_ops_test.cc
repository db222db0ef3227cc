// Ops that run on replicated arrays whatever is cut around them: asynchronous forms and dynamic sizes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

TEST(AsyncTest, TheStateKeepsItsNestedTuples) {
  ExpectEquivalent(R"(
twice {
  p = s32[7] parameter(0)
  ROOT s = s32[7] add(p, p)
}
ENTRY main {
  x = s32[7] parameter(0), sharding={devices=[$n]<=[$n]}
  a = ((s32[7]), s32[7], u32[]) async-start(x), calls=twice
  u = ((s32[7]), s32[7], u32[]) async-update(a)
  y = s32[7] async-done(u)
  ROOT z = s32[7] negate(y), sharding={devices=[$n]<=[$n]}
})");
}

TEST(DynamicSizesTest, CutArraysAreReplicatedWhereSizesAreKnownOnlyWhenRunning) {
  ExpectEquivalent(R"(
add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}
ENTRY main {
  x = s32[6,5] parameter(0), sharding={devices=[$n,1]<=[$n]}
  n = s32[] constant(4)
  z = s32[] constant(0)
  d = s32[<=6,5] set-dimension-size(x, n), dimensions={0}
  m = s32[<=6,5] negate(d)
  r = s32[5] reduce(m, z), dimensions={0}, to_apply=add
  k = s32[] get-dimension-size(m), dimensions={0}
  w = s32[5] broadcast(k), dimensions={}
  ROOT t = s32[5] add(r, w), sharding={devices=[$n]<=[$n]}
})");
}

TEST(TokenTest, ConstantsMayBeTokens) {
  ExpectEquivalent(R"(
ENTRY main {
  t = token[] constant(token)
  x = s32[7] parameter(0), sharding={devices=[$n]<=[$n]}
  o = token[] after-all(t)
  ROOT y = s32[7] add-dependency(x, o)
})");
}

constexpr char kAdd[] = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }\n";

// The sum of `value`, its size, and `value` itself.
std::string SumAndSize(const std::string& shape, const std::string& value) {
  return absl::Substitute(R"(
  z = s32[] constant(0)
  r = s32[] reduce($1, z), dimensions={0,1}, to_apply=add
  k = s32[] get-dimension-size($1), dimensions={0}
  ROOT t = (s32[], s32[], $0) tuple(r, k, $1) })",
                          shape, value);
}

TEST(DynamicSizesTest, SizesPassThroughLoopsAndBranches) {
  ExpectEquivalent(absl::StrCat(kAdd, R"(
f { p = s32[<=8,2] parameter(0) ROOT n = s32[<=8,2] negate(p) }
body { p = (s32[], s32[<=8,2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = s32[<=8,2] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = s32[<=8,2] add(v, v)
  ROOT t = (s32[], s32[<=8,2]) tuple(j, w) }
less { p = (s32[], s32[<=8,2]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main {
  x = s32[8,2] parameter(0), sharding={devices=[$n,1]<=[$n]}
  n = s32[] constant(3)
  y = s32[<=8,2] set-dimension-size(x, n), dimensions={0}
  always = pred[] constant(true)
  c = s32[<=8,2] conditional(always, y, y), true_computation=f, false_computation=f
  start = s32[] constant(0)
  init = (s32[], s32[<=8,2]) tuple(start, c)
  l = (s32[], s32[<=8,2]) while(init), body=body, condition=less
  v = s32[<=8,2] get-tuple-element(l), index=1
)",
                                SumAndSize("s32[<=8,2]", "v")));
}

TEST(DynamicSizesTest, AnnotationsAndResultsThatCutKeepTheSize) {
  for (const std::string cut : {"$n,1", "1,$n"}) {
    ExpectEquivalent(absl::StrCat(kAdd, R"(
ENTRY main {
  x = s32[8,2] parameter(0)
  n = s32[] constant(3)
  y = s32[<=8,2] set-dimension-size(x, n), dimensions={0}
  e = s32[<=8,2] custom-call(y), custom_call_target="Sharding", sharding={devices=[)",
                                  cut, "]<=[$n]}", SumAndSize("s32[<=8,2]", "e")));
    ExpectEquivalent(absl::StrCat(R"(
ENTRY main {
  x = s32[8,2] parameter(0)
  n = s32[] constant(3)
  ROOT y = s32[<=8,2] set-dimension-size(x, n), dimensions={0}, sharding={devices=[)",
                                  cut, "]<=[$n]} }"));
  }
}

TEST(DynamicSizesTest, ASizeOfWhatWasGatheredReachesTheResult) {
  const std::string text = R"(ENTRY main {
  i = s32[8,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  n = s32[] parameter(1)
  ROOT d = s32[<=8,4] set-dimension-size(i, n), dimensions={0}
})";
  for (const int32_t size : {0, 3, 8}) {
    const std::unique_ptr<Module> module = ProgramFor(text, 1);
    ExpectEquivalent(text,
                     {Integers(module->entry()->parameter(0)->shape()), Literal::Scalar<int32_t>(size)});
  }
}

TEST(DynamicSizesTest, CutsThatAreNotMadeAreReported) {
  const auto partitioned = PartitionModule(*ProgramFor(R"(
ENTRY main {
  x = s32[<=8,2] parameter(0), sharding={devices=[1,$n]<=[$n]}
  ROOT y = s32[<=8,2] negate(x), sharding={devices=[$n,1]<=[$n]}
})",
                                                       2),
                                           PartitionOptions());
  ASSERT_TRUE(partitioned.ok()) << partitioned.status();
  std::vector<std::string> named;
  for (const FullReplication& replication : partitioned->full_replications)
    named.push_back(replication.instruction);
  EXPECT_THAT(named, ::testing::ElementsAre("x", "y"));
}

TEST(DynamicSizesTest, ParametersMayHaveThem) {
  const std::string text =
      absl::StrCat(kAdd, "ENTRY main { x = s32[<=8,2] parameter(0), sharding={devices=[$n,1]<=[$n]}",
                   SumAndSize("s32[<=8,2]", "x"));
  ExpectEquivalent(text, {Integers(Shape(xla::S32, {5, 2}))});
}

}  // namespace
}  // namespace toroid
