// BUILD: size = "small"
// To which precision results are rounded on their way.
#include "runtime/numerics/narrowest_float.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

TEST(NarrowestFloatTest, ArithmeticInANarrowerTypeCounts) {
  const auto module = MakeModule(
      "p = f32[4] parameter(0) b = bf16[4] convert(p) c = bf16[4] multiply(b, b) r = f32[4] convert(c) "
      "s = f32[4] add(p, p) ROOT t = (f32[4], f32[4]) tuple(r, s)");
  EXPECT_THAT(NarrowestFloats(*module), ElementsAre(xla::BF16, xla::F32));
  EXPECT_THAT(OutputTolerances(*module), ElementsAre(2e-2, 1e-5));
}

TEST(NarrowestFloatTest, WhatIsOnlyReadOrMovedRoundsNothing) {
  const auto module = MakeModule(
      "p = bf16[4] parameter(0) b = bf16[2,4] broadcast(p), dimensions={1} c = f32[2,4] convert(b) "
      "d = f32[2,4] add(c, c) ROOT t = (bf16[4], f32[2,4]) tuple(p, d)");
  EXPECT_THAT(NarrowestFloats(*module), ElementsAre(xla::PRED, xla::F32));
}

TEST(NarrowestFloatTest, LoopsBranchesAndCallsAreFollowed) {
  const auto module = MakeModule(
      "n = s32[] parameter(0) x = f32[] parameter(1) y = f32[] parameter(2) "
      "t = (s32[], f32[], f32[]) tuple(n, x, y) w = (s32[], f32[], f32[]) while(t), condition=go, body=swap "
      "a = f32[] get-tuple-element(w), index=1 ROOT r = (s32[], f32[]) tuple(n, a)",
      // The body rounds x into element 2, and the next trip moves it to element 1.
      "swap { s = (s32[], f32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 "
      "x = f32[] get-tuple-element(s), index=1 y = f32[] get-tuple-element(s), index=2 "
      "h = f16[] convert(x) k = f32[] convert(h) ROOT t = (s32[], f32[], f32[]) tuple(i, y, k) }\n"
      "go { s = (s32[], f32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 "
      "z = s32[] constant(0) ROOT p = pred[] compare(i, z), direction=GT }\n");
  EXPECT_THAT(NarrowestFloats(*module), ElementsAre(xla::PRED, xla::F16));
}

TEST(NarrowestFloatTest, ReducedPrecisionCountsByItsMantissa) {
  const auto module = MakeModule(
      "p = f32[] parameter(0) r = f32[] reduce-precision(p), exponent_bits=8, mantissa_bits=7 "
      "ROOT s = f32[] add(r, r)");
  EXPECT_THAT(NarrowestFloats(*module), ElementsAre(xla::BF16));
}

TEST(NarrowestFloatTest, IntegersAreExactWhateverFeedsThem) {
  const auto module = MakeModule("p = bf16[] parameter(0) q = bf16[] add(p, p) ROOT s = s32[] convert(q)");
  EXPECT_THAT(OutputTolerances(*module), ElementsAre(0));
}

}  // namespace
}  // namespace toroid
