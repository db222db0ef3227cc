#include "hlo/passes/duplicates_pass.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::string After(const std::string& body, const std::string& computations = "", int64_t n = 2,
                  bool changes = true) {
  DuplicatesPass pass;
  return SameAfterPass(&pass, body, computations, n, changes);
}

TEST(DuplicatesPassTest, MasksOfOneArrayAreOne) {
  for (const int64_t size : {5, 8}) {
    const std::string text = After(absl::StrReplaceAll(R"(
  x = f32[$s,3] parameter(0)
  id = u32[] partition-id()
  i = s32[$s,3] iota(), iota_dimension=0
  p = s32[] convert(id)
  b = s32[$s,3] broadcast(p), dimensions={}
  m = pred[$s,3] compare(i, b), direction=LT
  z = f32[] constant(0)
  zs = f32[$s,3] broadcast(z), dimensions={}
  a = f32[$s,3] select(m, x, zs)
  id2 = u32[] partition-id()
  i2 = s32[$s,3] iota(), iota_dimension=0
  p2 = s32[] convert(id2)
  b2 = s32[$s,3] broadcast(p2), dimensions={}
  m2 = pred[$s,3] compare(i2, b2), direction=LT
  z2 = f32[] constant(0)
  zs2 = f32[$s,3] broadcast(z2), dimensions={}
  c = f32[$s,3] select(m2, x, zs2)
  ROOT r = f32[$s,3] add(a, c)
)",
                                                       {{"$s", absl::StrCat(size)}}),
                                   "", 3);
    EXPECT_EQ(CountOf(text, " select("), 1);
    EXPECT_EQ(CountOf(text, " iota("), 1);
    EXPECT_EQ(CountOf(text, " partition-id("), 1);
    EXPECT_THAT(text, HasSubstr("add(a, a)"));
  }
}

TEST(DuplicatesPassTest, CollectivesOfOneArrayAreOneWhateverTheirChannelsAndReducers) {
  const std::string text = After(
      R"(
  x = f32[6] parameter(0)
  a = f32[6] all-reduce(x), replica_groups={{0,1,2}}, channel_id=1, use_global_device_ids=true, to_apply=f
  b = f32[6] all-reduce(x), replica_groups={{0,1,2}}, channel_id=2, use_global_device_ids=true, to_apply=g
  c = f32[6] all-reduce(x), replica_groups={{0,1,2}}, channel_id=3, use_global_device_ids=true, to_apply=h
  s = f32[6] collective-permute(a), source_target_pairs={{0,1},{1,2}}, channel_id=4
  t = f32[6] collective-permute(b), source_target_pairs={{0,1},{1,2}}, channel_id=5
  u = f32[6] collective-permute(b), source_target_pairs={{0,1},{1,0}}, channel_id=6
  ROOT r = (f32[6], f32[6], f32[6], f32[6]) tuple(s, t, u, c)
)",
      ReducerText("f", "f32", "add") + ReducerText("g", "f32", "add") + ReducerText("h", "f32", "maximum"),
      3);
  EXPECT_EQ(CountOf(text, " all-reduce("), 2);
  EXPECT_EQ(CountOf(text, " collective-permute("), 2);
}

TEST(DuplicatesPassTest, SidesOfASumMayBeExchangedThoseOfADifferenceNot) {
  const std::string text = After(R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  a = f32[4] add(x, y)
  b = f32[4] add(y, x)
  c = f32[4] subtract(x, y)
  d = f32[4] subtract(y, x)
  ROOT r = (f32[4], f32[4], f32[4], f32[4]) tuple(a, b, c, d)
)");
  EXPECT_EQ(CountOf(text, " add("), 1);
  EXPECT_EQ(CountOf(text, " subtract("), 2);
}

TEST(DuplicatesPassTest, LoopsAndBodiesAreCompared) {
  const std::string text = After(R"(
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[4]) tuple(zero, x)
  v = (s32[], f32[4]) while(s), condition=more, body=step
  w = (s32[], f32[4]) while(s), condition=more, body=step2
  a = f32[4] get-tuple-element(v), index=1
  b = f32[4] get-tuple-element(w), index=1
  ROOT r = f32[4] add(a, b)
)",
                                 R"(
more {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT m = pred[] compare(i, n), direction=LT
}
step {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[4] get-tuple-element(s), index=1
  y = f32[4] add(x, x)
  ROOT t = (s32[], f32[4]) tuple(j, y)
}
step2 {
  t = (s32[], f32[4]) parameter(0)
  k = s32[] get-tuple-element(t), index=0
  eins = s32[] constant(1)
  l = s32[] add(k, eins)
  y = f32[4] get-tuple-element(t), index=1
  z = f32[4] add(y, y)
  ROOT u = (s32[], f32[4]) tuple(l, z)
}
)");
  EXPECT_EQ(CountOf(text, " while("), 1);
}

TEST(DuplicatesPassTest, WhatStandsBehindABarrierIsComputedAnew) {
  After(R"(
  x = f32[4] parameter(0)
  a = f32[4] sine(x)
  b = f32[4] opt-barrier(x)
  c = f32[4] sine(b)
  d = f32[4] opt-barrier(x)
  e = f32[4] sine(d)
  ROOT r = (f32[4], f32[4], f32[4]) tuple(a, c, e)
)",
        "", 2, /*changes=*/false);
}

TEST(DuplicatesPassTest, LargeCheapValuesAreNotKeptForDistantUsers) {
  std::string body = R"(
  x = f32[128,256] parameter(0)
  y = f32[256,8] parameter(1)
  e = f32[128,256] negate(x)
  d = f32[128,8] dot(e, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c0 = f32[128,8] negate(d)
)";
  for (int i = 1; i < 100; ++i) absl::StrAppend(&body, "  c", i, " = f32[128,8] negate(c", i - 1, ")\n");
  absl::StrAppend(&body, R"(
  e2 = f32[128,256] negate(x)
  g = f32[128] reduce(e2, zero), dimensions={1}, to_apply=f
  d2 = f32[128,8] dot(e2, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[128,8] add(c99, d2)
  ROOT r = (f32[128,8], f32[128]) tuple(s, g)
)");
  const std::string text = After(absl::StrReplaceAll(body, {{"c0 =", "zero = f32[] constant(0)\n  c0 ="}}),
                                 ReducerText("f", "f32", "add"), 1);
  EXPECT_EQ(CountOf(text, " dot("), 1) << "the product is computed once";
  EXPECT_EQ(CountOf(text, "negate(x)"), 2) << "what it is made of is not held";
}

// Two uses of one neighbour exchange, and of one mask.
TEST(DuplicatesPassTest, PartitionsAgree) {
  for (const int64_t k : {6, 16}) {
    ExpectEquivalent(absl::StrReplaceAll(R"(
ENTRY main {
  x = f32[$k,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  z = f32[] constant(0)
  a = f32[$k,4] slice(x), slice={[0:$k], [0:4]}
  p = f32[$m,4] pad(x, z), padding=1_0x0_0
  q = f32[$m,4] pad(x, z), padding=1_0x0_0
  b = f32[$k,4] slice(p), slice={[0:$k], [0:4]}
  c = f32[$k,4] slice(q), slice={[0:$k], [0:4]}
  d = f32[$k,4] multiply(b, c)
  ROOT r = f32[$k,4] custom-call(d), custom_call_target="Sharding", sharding={devices=[$n,1]<=[$n]}
})",
                                         {{"$k", absl::StrCat(k)}, {"$m", absl::StrCat(k + 1)}}));
  }
}

}  // namespace
}  // namespace toroid
