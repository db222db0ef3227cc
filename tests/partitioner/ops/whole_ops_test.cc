// Ops that run on whole arrays whatever is cut around them: asynchronous forms and dynamic sizes.
#include <string>

#include "gtest/gtest.h"
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

TEST(DynamicSizesTest, CutArraysAreWholeWhereSizesAreKnownOnlyWhenRunning) {
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

}  // namespace
}  // namespace toroid
