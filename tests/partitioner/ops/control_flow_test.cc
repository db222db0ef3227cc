#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;

std::string While(int64_t trips, const std::string& in, const std::string& inside) {
  return absl::StrCat(R"(
body {
  s = (s32[], s32[5,6], s32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[5,6] get-tuple-element(s), index=1
  v = s32[6] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = s32[5,6] broadcast(v), dimensions={1}
  y = s32[5,6] subtract(w, x))",
                      inside, R"(
  ROOT t = (s32[], s32[5,6], s32[6]) tuple(j, y, v)
}
condition {
  s = (s32[], s32[5,6], s32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant()",
                      trips, R"()
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = s32[5,6] parameter(0), sharding={devices=)",
                      in, R"(<=[$n]}
  v = s32[6] parameter(1), sharding={devices=[$n]<=[$n]}
  zero = s32[] constant(0)
  init = (s32[], s32[5,6], s32[6]) tuple(zero, x, v)
  loop = (s32[], s32[5,6], s32[6]) while(init), condition=condition, body=body
  ROOT y = s32[5,6] get-tuple-element(loop), index=1
})");
}

TEST(WhileTest, StateSplitOneWayInsideAndAnotherOutside) {
  for (const int64_t trips : {0, 1, 4}) {
    SCOPED_TRACE(trips);
    ExpectEquivalent(While(trips, "[$n,1]", ""));
    ExpectEquivalent(While(trips, "[$n,1]", ", sharding={devices=[1,$n]<=[$n]}"));
    ExpectEquivalent(While(trips, "[1,$n]", ", sharding={replicated}"));
  }
}

TEST(WhileTest, ALoopOverCutStateMovesNothing) {
  EXPECT_THAT(Collectives(While(4, "[1,$n]", ""), 2), IsEmpty());
}

std::string Conditional(const std::string& predicate, const std::string& inside) {
  return absl::StrCat(
      "a { x = s32[5,6] parameter(0)  ROOT y = s32[5,6] negate(x) }\n",
      "b { x = s32[5,6] parameter(0)  ROOT y = s32[5,6] add(x, x)", inside, " }\n", R"(ENTRY main {
  p = )",
      predicate, R"( parameter(0)
  x = s32[5,6] parameter(1), sharding={devices=[$n,1]<=[$n]}
  z = s32[5,6] parameter(2), sharding={devices=[1,$n]<=[$n]}
  ROOT y = s32[5,6] conditional(p, x, z), )",
      predicate == "pred[]" ? "true_computation=a, false_computation=b" : "branch_computations={a, b}",
      ", sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(ConditionalTest, BranchesWithOperandsSplitDifferently) {
  const Literal x = Integers(Shape(xla::S32, {5, 6})), z = Integers(Shape(xla::S32, {5, 6}), 2);
  for (const bool p : {false, true}) {
    ExpectEquivalent(Conditional("pred[]", ""), {Literal::Scalar(p), x, z});
    ExpectEquivalent(Conditional("pred[]", ", sharding={devices=[1,$n]<=[$n]}"), {Literal::Scalar(p), x, z});
  }
  for (const int32_t branch : {-1, 0, 1, 7}) {
    ExpectEquivalent(Conditional("s32[]", ""), {Literal::Scalar(branch), x, z});
  }
}

TEST(CallTest, CalleesAreComputedWhereTheyAreCalled) {
  const std::string text = R"(
f { x = s32[6,4] parameter(0)  ROOT y = s32[6,4] negate(x) }
ENTRY main {
  x = s32[6,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  y = s32[6,4] call(x), to_apply=f
  ROOT z = s32[6,4] call(y), to_apply=f, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 3), IsEmpty());
}

const char kDoubling[] = R"(
condition {
  p = (s32[], s32[8,6]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  p = (s32[], s32[8,6]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = s32[8,6] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = s32[8,6] add(x, x)
  ROOT t = (s32[], s32[8,6]) tuple(j, y)
})";

TEST(WhileTest, TwoLoopsOverOneBodyEachKeepTheirResultAndTheirCut) {
  const std::string text = absl::StrCat(kDoubling, R"(
ENTRY main {
  a = s32[8,6] parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = s32[8,6] parameter(1), sharding={devices=[1,$n]<=[$n]}
  z = s32[] constant(0)
  ta = (s32[], s32[8,6]) tuple(z, a)
  wa = (s32[], s32[8,6]) while(ta), condition=condition, body=body
  tb = (s32[], s32[8,6]) tuple(z, b)
  wb = (s32[], s32[8,6]) while(tb), condition=condition, body=body
  ra = s32[8,6] get-tuple-element(wa), index=1
  rb = s32[8,6] get-tuple-element(wb), index=1
  na = s32[8,6] negate(ra), sharding={devices=[$n,1]<=[$n]}
  nb = s32[8,6] negate(rb), sharding={devices=[1,$n]<=[$n]}
  ROOT r = (s32[8,6], s32[8,6]) tuple(na, nb)
})");
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 2), IsEmpty());
}

TEST(WhileTest, AFunctionWithALoopMayBeCalledTwice) {
  ExpectEquivalent(absl::StrCat(kDoubling, R"(
f {
  a = s32[8,6] parameter(0)
  z = s32[] constant(0)
  ta = (s32[], s32[8,6]) tuple(z, a)
  wa = (s32[], s32[8,6]) while(ta), condition=condition, body=body
  ROOT ra = s32[8,6] get-tuple-element(wa), index=1
}
ENTRY main {
  a = s32[8,6] parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = s32[8,6] parameter(1), sharding={devices=[$n,1]<=[$n]}
  ra = s32[8,6] call(a), to_apply=f
  rb = s32[8,6] call(b), to_apply=f
  ROOT r = s32[8,6] subtract(ra, rb)
})"));
}

TEST(ConditionalTest, OneComputationMayBeBothBranches) {
  ExpectEquivalent(R"(
f { x = s32[5,6] parameter(0)  ROOT y = s32[5,6] negate(x) }
ENTRY main {
  p = pred[] parameter(0)
  x = s32[5,6] parameter(1), sharding={devices=[$n,1]<=[$n]}
  z = s32[5,6] parameter(2), sharding={devices=[1,$n]<=[$n]}
  ROOT y = s32[5,6] conditional(p, x, z), true_computation=f, false_computation=f
})");
}

}  // namespace
}  // namespace toroid
