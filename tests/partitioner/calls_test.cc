// Calls: shardings on them and inside of what they call.
#include <string>

#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

int64_t Partitions(const std::string& text) {
  const absl::StatusOr<Partitioned> partitioned = PartitionModule(*ProgramFor(text, 2), PartitionOptions());
  return partitioned.ok() ? partitioned->num_partitions : -1;
}

TEST(CallsTest, TheShardingOfACallCutsItsResult) {
  const std::string text = R"(
f { q = f32[8] parameter(0)  ROOT n = f32[8] negate(q) }
ENTRY main {
  a = f32[8] parameter(0)
  r = f32[8] call(a), to_apply=f, sharding={devices=[$n]<=[$n]}
  ROOT z = f32[8] add(r, r)
})";
  EXPECT_EQ(Partitions(text), 2);
  ExpectEquivalent(text);
}

TEST(CallsTest, TheShardingOfAParameterCutsTheArgument) {
  const std::string text = R"(
f { q = f32[8] parameter(0), sharding={devices=[$n]<=[$n]}  ROOT n = f32[8] negate(q) }
ENTRY main {
  a = f32[8] parameter(0)
  ROOT r = f32[8] call(a), to_apply=f
})";
  EXPECT_EQ(Partitions(text), 2);
  ExpectEquivalent(text);
}

TEST(CallsTest, AnnotationsAndConstantsMayBeTuples) {
  ExpectEquivalent(R"(
ENTRY main {
  x = f32[8] parameter(0)
  a = (f32[8], f32[8]) tuple(x, x)
  b = (f32[8], f32[8]) custom-call(a), custom_call_target="Sharding", sharding={{devices=[$n]<=[$n]}, {replicated}}
  g = f32[8] get-tuple-element(b), index=0
  c = (f32[], (f32[8])) constant((2, ({1, 2, 3, 4, 5, 6, 7, 8})))
  o = (f32[], (f32[8])) opt-barrier(c)
  t = (f32[8]) get-tuple-element(o), index=1
  e = f32[8] get-tuple-element(t), index=0
  s = f32[8] multiply(g, e)
  ROOT r = (f32[8], (f32[], (f32[8]))) tuple(s, c)
})");
}

TEST(CallsTest, ATupleHasAShardingForEachElement) {
  const std::string text = R"(
f {
  q = f32[8,6] parameter(0)
  m = f32[8,6] negate(q)
  ROOT t = (f32[8,6], f32[8,6]) tuple(q, m)
}
ENTRY main {
  a = f32[8,6] parameter(0)
  ROOT r = (f32[8,6], f32[8,6]) call(a), to_apply=f,
      sharding={{devices=[$n,1]<=[$n]}, {devices=[1,$n]<=[$n]}}
})";
  EXPECT_EQ(Partitions(text), 2);
  ExpectEquivalent(text);
}

}  // namespace
}  // namespace toroid
