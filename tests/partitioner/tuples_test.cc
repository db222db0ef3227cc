// Tuples are transparent: an array in a tuple is cut as it would be by itself.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two arrays that are cut along different dimensions, in a tuple that `op` hands on.
std::string Passed(const std::string& op) {
  return absl::StrCat(R"(
ENTRY main {
  x = f32[8,6] parameter(0), sharding={devices=[$n,1]<=[$n]}
  w = f32[8,6] parameter(1), sharding={devices=[1,$n]<=[$n]}
  k = token[] after-all()
  s = (f32[8,6], token[]) tuple(w, k)
  t = (f32[8,6], (f32[8,6], token[])) tuple(x, s)
  b = (f32[8,6], (f32[8,6], token[])) )",
                      op, R"(
  x2 = f32[8,6] get-tuple-element(b), index=0
  i = (f32[8,6], token[]) get-tuple-element(b), index=1
  w2 = f32[8,6] get-tuple-element(i), index=0
  u = f32[8,6] negate(x2)
  v = f32[8,6] negate(w2)
  ROOT r = (f32[8,6], f32[8,6]) tuple(u, v)
})");
}

TEST(TuplesTest, OpsThatHandATupleOnMoveNothing) {
  for (const char* op : {"opt-barrier(t)", "copy(t)",
                         "domain(t), domain={kind=\"sharding\", entry={replicated}, "
                         "exit={replicated}}",
                         "custom-call(t), custom_call_target=\"MoveToHost\"",
                         "custom-call(t), custom_call_target=\"xla.sdy.PropagationBarrier\", "
                         "frontend_attributes={xla.sdy.allowed_direction=\"3 : i32\"}"}) {
    SCOPED_TRACE(op);
    ExpectEquivalent(Passed(op));
    EXPECT_THAT(Collectives(Passed(op), 2), IsEmpty());
  }
}

TEST(TuplesTest, PartialSumsPassABarrierAndAreReducedOnce) {
  const std::string text = R"(
ENTRY main {
  x = f32[4,8] parameter(0), sharding={devices=[1,$n]<=[$n]}
  y = f32[8,4] parameter(1), sharding={devices=[$n,1]<=[$n]}
  p = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = (f32[4,4], f32[4,8]) tuple(p, x)
  b = (f32[4,4], f32[4,8]) opt-barrier(t)
  q = f32[4,4] get-tuple-element(b), index=0
  z = f32[4,8] get-tuple-element(b), index=1
  s = f32[1,4] slice(q), slice={[0:1], [0:4]}
  ROOT r = (f32[1,4], f32[4,8]) tuple(s, z)
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-reduce 16"));
}

TEST(TuplesTest, AValueThatWaitsForATokenStaysCut) {
  const std::string text = R"(
ENTRY main {
  x = f32[8,5] parameter(0), sharding={devices=[$n,1]<=[$n]}
  k = token[] after-all()
  d = f32[8,5] add-dependency(x, k)
  ROOT r = f32[8,5] negate(d)
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 2), IsEmpty());
}

TEST(TuplesTest, AsynchronousPairsAreCutAsTheOpTheyWrap) {
  for (const char* pair : {"s = (f32[8,5], f32[8,5], u32[]) copy-start(x)  d = f32[8,5] copy-done(s)",
                           "s = ((f32[8,5]), f32[8,5], u32[]) async-start(x), calls=wrapped  "
                           "u = ((f32[8,5]), f32[8,5], u32[]) async-update(s)  d = f32[8,5] async-done(u)"}) {
    SCOPED_TRACE(pair);
    const std::string text = absl::StrCat(R"(
wrapped {
  p = f32[8,5] parameter(0)
  ROOT n = f32[8,5] negate(p)
}
ENTRY main {
  x = f32[8,5] parameter(0), sharding={devices=[$n,1]<=[$n]}
  )",
                                          pair, R"(
  ROOT r = f32[8,5] negate(d)
})");
    ExpectEquivalent(text);
    EXPECT_THAT(Collectives(text, 2), IsEmpty());
  }
}

TEST(TuplesTest, CollectivesOfSeveralArraysKeepTheirFreeAxes) {
  // The first axis of the mesh is manual, the second free.
  for (const char* op :
       {"all-to-all(l, m), replica_groups={{0,2},{1,3}}, channel_id=1",
        "collective-permute(l, m), source_target_pairs={{0,2},{2,0},{1,3},{3,1}}, channel_id=1",
        "all-reduce(l, m), replica_groups={{0,2},{1,3}}, channel_id=1, "
        "use_global_device_ids=true, to_apply=add"}) {
    SCOPED_TRACE(op);
    const std::string text = absl::StrCat(R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[4,6] parameter(0), sharding={devices=[2,2]<=[4]}
  y = f32[4,6] parameter(1), sharding={devices=[2,2]<=[4]}
  l = f32[2,6] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  m = f32[2,6] custom-call(y), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  t = (f32[2,6], f32[2,6]) )",
                                          op, R"(
  u = f32[2,6] get-tuple-element(t), index=0
  v = f32[2,6] get-tuple-element(t), index=1
  w = f32[2,6] subtract(u, v)
  ROOT r = f32[4,6] custom-call(w), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,2]<=[4]}
})");
    EXPECT_EQ(Collectives(text, 4).size(), 1);  // The collective of the program itself.
  }
}

}  // namespace
}  // namespace toroid
