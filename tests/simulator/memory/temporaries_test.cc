// Memory beside arguments and results, as Google's compiler for TPU v3 states it where a test says so.
#include "simulator/memory/temporaries.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

constexpr int64_t kMiB = 1 << 20;

MemoryNeeds Needs(const std::string& entry, const std::string& others = "") {
  auto module = ParseModule(absl::StrCat(others, "\nENTRY main {\n", entry, "\n}"));
  EXPECT_OK(module.status());
  return ComputeMemoryNeeds(**module);
}

TEST(TemporariesTest, NothingMovesToMakeRoom) {
  // Stated for this program, x exchanged among 8 cores: 40 MiB, while 36 are alive at a time.
  const MemoryNeeds needs = Needs(R"(
    x = bf16[2048,1024] parameter(0)
    w = bf16[1024,8192] parameter(1)
    s = bf16[2048,1024] sine(x)
    s3 = bf16[8,256,1024] bitcast(s)
    t = bf16[8,256,1024] all-to-all(s3), dimensions={0}, replica_groups={{0,1,2,3,4,5,6,7}}
    t2 = bf16[2048,1024] bitcast(t)
    h = bf16[2048,8192] dot(t2, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT r = bf16[1024,2048] dot(w, h), lhs_contracting_dims={1}, rhs_contracting_dims={1})");
  EXPECT_EQ(needs.temporary, 40 * kMiB);
  EXPECT_EQ(needs.arguments, 20 * kMiB);
  EXPECT_EQ(needs.results, 4 * kMiB);
}

TEST(TemporariesTest, PackedTheLargestLiesWhereASmallOneWas) {
  auto module = ParseModule(R"(ENTRY main {
    x = f32[1024,1024] parameter(0)
    w = f32[1024,8192] parameter(1)
    s = f32[1024,1024] sine(x)
    t = f32[1024,1024] transpose(s), dimensions={1,0}
    h = f32[1024,8192] dot(t, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT r = f32[1024,1024] dot(w, h), lhs_contracting_dims={1}, rhs_contracting_dims={1} })");
  ASSERT_OK(module.status());
  EXPECT_EQ(ComputeMemoryNeeds(**module).temporary, 40 * kMiB);
  EXPECT_EQ(ComputeMemoryNeeds(**module, nullptr, /*packs=*/true).temporary, 36 * kMiB);
}

// What each trip of a loop keeps is written into the array of all trips: 64 MiB, once.
TEST(TemporariesTest, GroupsThatUpdateTheStateOfALoopWriteItInPlace) {
  const char loop[] = R"(
group { all = f32[16,1024,1024] parameter(0)
  x = f32[1024,1024] parameter(1)
  i = s32[] parameter(2)
  n = f32[1024,1024] negate(x)
  one = f32[1,1024,1024] reshape(n)
  zero = s32[] constant(0)
  ROOT u = f32[16,1024,1024] dynamic-update-slice(all, one, i, zero, zero) }
body { s = (s32[], f32[1024,1024], f32[16,1024,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[1024,1024] get-tuple-element(s), index=1
  all = f32[16,1024,1024] get-tuple-element(s), index=2
  u = f32[16,1024,1024] fusion(all, x, i), kind=kLoop, calls=group
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[1024,1024], f32[16,1024,1024]) tuple(next, x, u) }
condition { s = (s32[], f32[1024,1024], f32[16,1024,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(16)
  ROOT less = pred[] compare(i, n), direction=LT })";
  const MemoryNeeds needs = Needs(R"(
    x = f32[1024,1024] parameter(0)
    first = s32[] constant(0)
    none = f32[] constant(0)
    all = f32[16,1024,1024] broadcast(none), dimensions={}
    s = (s32[], f32[1024,1024], f32[16,1024,1024]) tuple(first, x, all)
    w = (s32[], f32[1024,1024], f32[16,1024,1024]) while(s), condition=condition, body=body
    kept = f32[16,1024,1024] get-tuple-element(w), index=2
    ROOT part = f32[1,1,1024] slice(kept), slice={[0:1], [0:1], [0:1024]})",
                                  loop);
  EXPECT_GE(needs.temporary, 64 * kMiB);
  EXPECT_LT(needs.temporary, 70 * kMiB);  // x, which is the program's argument, is copied.
}

TEST(TemporariesTest, PlacesAreTakenAgain) {
  // Stated for a feed-forward layer whose result is exchanged: 40 MiB; the exchange lies where h was.
  const MemoryNeeds needs = Needs(R"(
    x = bf16[2048,1024] parameter(0)
    w = bf16[1024,8192] parameter(1)
    h = bf16[2048,8192] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    y = f32[2048,1024] dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
    y3 = f32[8,256,1024] bitcast(y)
    t = f32[8,256,1024] all-to-all(y3), dimensions={0}, replica_groups={{0,1,2,3,4,5,6,7}}
    ROOT r = f32[8,256,1024] negate(t))");
  EXPECT_EQ(needs.temporary, 40 * kMiB);
}

TEST(TemporariesTest, ElementwiseResultsTakeThePlaceOfAnOperandUnlessTheProgramReturnsThem) {
  const std::string begin =
      "x = f32[1024,1024] parameter(0)\n d = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}\n n = f32[1024,1024] negate(d)\n";
  EXPECT_EQ(
      Needs(begin + "ROOT r = f32[1024,1024] dot(n, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}")
          .temporary,
      4 * kMiB);
  EXPECT_EQ(Needs(begin + "ROOT r = f32[1024,1024] add(n, x)").temporary, 4 * kMiB);
}

TEST(TemporariesTest, GroupsThatWidenTakeAPlaceOfTheirOwn) {
  const auto text = [](const std::string& inside) {
    return Needs(R"(
      x = bf16[1024,1024] parameter(0)
      d = bf16[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      n = bf16[1024,1024] fusion(d), kind=kLoop, calls=inside
      ROOT r = bf16[1024,1024] dot(n, x), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                 "inside {\n p = bf16[1024,1024] parameter(0)\n" + inside + "}");
  };
  EXPECT_EQ(text("ROOT n = bf16[1024,1024] negate(p)").temporary, 2 * kMiB);
  EXPECT_EQ(
      text("w = f32[1024,1024] convert(p)\n s = f32[1024,1024] sine(w)\n ROOT n = bf16[1024,1024] convert(s)")
          .temporary,
      4 * kMiB);
}

TEST(TemporariesTest, AllReducesOfSeveralArraysLieWhereTheirOperandsDid) {
  const MemoryNeeds needs =
      Needs(R"(
    x = f32[1024,1024] parameter(0)
    a = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    b = f32[1024,1024] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    r = (f32[1024,1024], f32[1024,1024]) all-reduce(a, b), replica_groups={}, to_apply=sum
    c = f32[1024,1024] get-tuple-element(r), index=0
    d = f32[1024,1024] get-tuple-element(r), index=1
    ROOT e = f32[1024,1024] dot(c, d), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
            "sum { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }");
  EXPECT_EQ(needs.temporary, 8 * kMiB);
}

TEST(TemporariesTest, WhatIsUpdatedInPlaceToBecomeAResultLiesWhereThatDoes) {
  const char* copied = R"(
    x = f32[1024,1024] parameter(0)
    u = f32[8,1024] parameter(1)
    i = s32[] parameter(2)
    zero = s32[] parameter(3)
    c = f32[1024,1024] copy(x)
    d = f32[1024,1024] dynamic-update-slice(c, u, i, zero)
    )";
  const MemoryNeeds updated =
      Needs(absl::StrCat(copied, "ROOT r = f32[1024,1024] dynamic-update-slice(d, u, zero, i)"));
  EXPECT_EQ(updated.temporary, 0);
  EXPECT_EQ(updated.results, 4 * kMiB);
  // Not what is read afterwards.
  const MemoryNeeds read = Needs(absl::StrCat(
      copied, "n = f32[1024,1024] negate(c) ROOT t = (f32[1024,1024], f32[1024,1024]) tuple(d, n)"));
  EXPECT_EQ(read.temporary, 4 * kMiB);
  EXPECT_EQ(read.results, 8 * kMiB);
}

TEST(TemporariesTest, DonatedArgumentsHoldTheirResults) {
  auto module = ParseModule(R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
    ENTRY main {
      w = f32[1024,1024] parameter(0)
      g = f32[1024,1024] parameter(1)
      n = f32[1024,1024] subtract(w, g)
      m = f32[1024,1024] negate(g)
      ROOT t = (f32[1024,1024], f32[1024,1024]) tuple(n, m) })");
  ASSERT_OK(module.status());
  const MemoryNeeds needs = ComputeMemoryNeeds(**module);
  EXPECT_EQ(needs.arguments, 8 * kMiB);
  EXPECT_EQ(needs.results, 4 * kMiB);
  EXPECT_EQ(needs.temporary, 0);
}

TEST(TemporariesTest, WhatABranchReturnsLiesWhereTheConditionalsResultDoes) {
  const MemoryNeeds needs = Needs(R"(
    x = f32[1024,1024] parameter(0)
    p = pred[] parameter(1)
    c = f32[1024,1024] conditional(p, x, x), true_computation=twice, false_computation=once
    ROOT r = f32[1024,1024] dot(c, x), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                                  R"(
    twice { a = f32[1024,1024] parameter(0)
      b = f32[1024,1024] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT d = f32[1024,1024] dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
    once { a = f32[1024,1024] parameter(0)
      ROOT d = f32[1024,1024] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} })");
  EXPECT_EQ(needs.temporary, 8 * kMiB);  // c; b, while the first branch runs.
}

TEST(TemporariesTest, ALoopsBodyTakesItsPlaceWhileTheLoopRuns) {
  const MemoryNeeds needs = Needs(R"(
    x = f32[1024,1024] parameter(0)
    zero = s32[] constant(0)
    y = f32[1024,1024] negate(x)
    s = (s32[], f32[1024,1024]) tuple(zero, y)
    l = (s32[], f32[1024,1024]) while(s), condition=condition, body=body
    z = f32[1024,1024] get-tuple-element(l), index=1
    zero_f = f32[] constant(0)
    ROOT r = f32[1024] reduce(z, zero_f), dimensions={0}, to_apply=sum)",
                                  R"(
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    condition { s = (s32[], f32[1024,1024]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(7)
      ROOT more = pred[] compare(i, n), direction=LT }
    body { s = (s32[], f32[1024,1024]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      one = s32[] constant(1)
      next = s32[] add(i, one)
      x = f32[1024,1024] get-tuple-element(s), index=1
      big = f32[2048,1024] concatenate(x, x), dimensions={0}
      y = f32[1024,1024] slice(big), slice={[0:1024], [0:1024]}
      ROOT t = (s32[], f32[1024,1024]) tuple(next, y) })");
  // y, of which the loop makes its state; within, big and what it returns.
  EXPECT_THAT(needs.temporary, IsWithin(kTwoPercent, 16 * kMiB));  // And numbers.
}

}  // namespace
}  // namespace toroid
