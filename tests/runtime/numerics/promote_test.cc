// BUILD: size = "small"
// Float arithmetic in f64, without rounding but where bits are read.
#include "runtime/numerics/promote.h"

#include <string>

#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

std::string Promoted(const std::string& body, const std::string& computations = "") {
  const auto module = MakeModule(body, computations);
  const auto promoted = PromoteModule(*module);
  if (!promoted.ok()) return promoted.status().ToString();
  EXPECT_OK(VerifyModule(*promoted->module));
  const absl::StatusOr<Literal> result = RunSingle(*promoted->module, {});
  return result.ok() ? result->shape().ToString() + " " + ToText(*result) : result.status().ToString();
}

TEST(PromoteTest, ArithmeticDoesNotRound) {
  // 256 + 1 is no bf16, 1/3 * 3 no exact f32.
  EXPECT_EQ(Promoted("a = bf16[] constant(256) b = bf16[] constant(1) ROOT c = bf16[] add(a, b)"),
            "f64[] 257");
  EXPECT_EQ(Promoted("a = f8e5m2[2] constant({5, 7}) ROOT c = f8e5m2[2] multiply(a, a)"), "f64[2] {25, 49}");
  EXPECT_EQ(Promoted("a = c64[] constant((16777216, 0)) b = c64[] constant((1, 0)) ROOT c = c64[] add(a, b)"),
            "c128[] (16777217, 0)");
}

int64_t RoundingOps(const std::string& body) {
  const auto promoted = PromoteModule(*MakeModule(body));
  return promoted.ok() ? promoted->rounding_ops : -1;
}

TEST(PromoteTest, ConversionsBetweenFloatsRoundNothing) {
  // 257 as bf16 is 256.
  EXPECT_EQ(
      Promoted(
          "a = bf16[] constant(256) b = bf16[] constant(1) c = bf16[] add(a, b) ROOT d = f32[] convert(c)"),
      "f64[] 257");
  EXPECT_EQ(Promoted("a = f32[] constant(257) ROOT d = bf16[] convert(a)"), "f64[] 257");
  EXPECT_EQ(Promoted("a = f32[] constant(1e30) ROOT d = f16[] convert(a)").substr(0, 12), "f64[] 1.0000");
  EXPECT_EQ(Promoted("a = f32[] constant(257) b = bf16[] convert(a) ROOT d = f64[] convert(b)"), "f64[] 257");
  EXPECT_EQ(Promoted("a = c64[] constant((16777216, 0)) b = c64[] constant((1, 0)) c = c64[] add(a, b) "
                     "ROOT d = c128[] convert(c)"),
            "c128[] (16777217, 0)");
  EXPECT_EQ(Promoted("a = s32[] constant(257) ROOT d = bf16[] convert(a)"), "f64[] 257");
  EXPECT_EQ(Promoted("i = bf16[258] iota(), iota_dimension=0 ROOT s = bf16[1] slice(i), slice={[257:258]}"),
            "f64[1] {257}");
  EXPECT_EQ(RoundingOps("a = f32[] constant(257) b = bf16[] convert(a) ROOT d = f32[] convert(b)"), 0);
}

TEST(PromoteTest, ConversionsToIntegersRoundToTheDeclaredTypeFirst) {
  // 257 as bf16 is 256.
  EXPECT_EQ(
      Promoted(
          "a = bf16[] constant(256) b = bf16[] constant(1) c = bf16[] add(a, b) ROOT d = s32[] convert(c)"),
      "s32[] 256");
  EXPECT_EQ(RoundingOps("a = bf16[] constant(2) ROOT d = s32[] convert(a)"), 1);
}

// 1/3 + 1/3 + 1/3 is less than 1 by one step of f64 in some orders of summation; rounded to f32 it is 1.
TEST(PromoteTest, OpsThatJumpAreTakenOfValuesRoundedToTheDeclaredType) {
  const std::string almost_one =
      "t = f32[] constant(1) e = f64[] constant(1.1102230246251565e-16) f = f32[] convert(e) "
      "x = f32[] subtract(t, f) ";
  EXPECT_EQ(Promoted(almost_one + "ROOT y = f32[] floor(x)"), "f64[] 1");
  EXPECT_EQ(Promoted(almost_one + "ROOT y = pred[] compare(x, t), direction=EQ"), "pred[] true");
  EXPECT_EQ(Promoted(almost_one + "ROOT y = pred[] compare(x, t), direction=LT"), "pred[] false");
  EXPECT_EQ(Promoted(almost_one + "ROOT y = f32[] remainder(x, t)"), "f64[] 0");
  EXPECT_EQ(Promoted(almost_one + "ROOT y = s32[] convert(x)"), "s32[] 1");
  // Ops that do not jump see all of the value.
  EXPECT_EQ(Promoted(almost_one + "z = f32[] subtract(t, x) ROOT y = f32[] sign(z)"), "f64[] 1");
  EXPECT_EQ(
      RoundingOps(almost_one + "c = pred[] compare(x, t), direction=EQ n = f32[] floor(x) "
                               "r = f32[] remainder(x, t) ROOT y = (pred[], f32[], f32[]) tuple(c, n, r)"),
      3);
}

TEST(PromoteTest, BitsAreThoseOfTheDeclaredType) {
  EXPECT_EQ(Promoted("a = f32[] constant(1) ROOT d = u32[] bitcast-convert(a)"), "u32[] 1065353216");
  EXPECT_EQ(Promoted("a = u32[] constant(1065353216) ROOT d = f32[] bitcast-convert(a)"), "f64[] 1");
  EXPECT_EQ(
      Promoted(
          "a = f32[] constant(1.3) ROOT d = f32[] reduce-precision(a), exponent_bits=5, mantissa_bits=2"),
      "f64[] 1.2999999523162842");
}

TEST(PromoteTest, CalledComputationsAndTuplesFollow) {
  const std::string loop =
      "body { t = (f32[], s32[]) parameter(0) x = f32[] get-tuple-element(t), index=0 n = s32[] "
      "get-tuple-element(t), index=1 "
      "h = f32[] constant(0.1) y = f32[] add(x, h) one = s32[] constant(1) m = s32[] subtract(n, one) "
      "ROOT r = (f32[], s32[]) tuple(y, m) }\n"
      "cond { t = (f32[], s32[]) parameter(0) n = s32[] get-tuple-element(t), index=1 z = s32[] constant(0) "
      "ROOT p = pred[] compare(n, z), direction=GT }\n";
  EXPECT_EQ(Promoted("x = f32[] constant(0) n = s32[] constant(2) t = (f32[], s32[]) tuple(x, n) "
                     "w = (f32[], s32[]) while(t), condition=cond, body=body ROOT r = f32[] "
                     "get-tuple-element(w), index=0",
                     loop),
            "f64[] 0.20000000298023224");
  EXPECT_EQ(Promoted("x = bf16[3] constant({256, 1, 1}) z = bf16[] constant(0) "
                     "ROOT r = bf16[] reduce(x, z), dimensions={0}, to_apply=add",
                     ReducerText("add", "bf16", "add")),
            "f64[] 258");
}

TEST(PromoteTest, IntegerProgramsStayAsTheyAre) {
  EXPECT_EQ(Promoted("a = s32[] constant(2147483647) ROOT b = s32[] add(a, a)"), "s32[] -2");
  EXPECT_EQ(Promoted("a = f32[1,1] constant({{3}}) ROOT d = s32[1,1] dot(a, a), lhs_contracting_dims={1}, "
                     "rhs_contracting_dims={0}"),
            "s32[1,1] { {9} }");
}

TEST(PromoteTest, LiteralsAreExact) {
  EXPECT_EQ(ToText(PromotedLiteral(ParseLiteral("bf16[2] {0.5, nan}"))), "{0.5, nan}");
  EXPECT_EQ(PromotedShape(ParseLiteral("s32[2] {1, 2}").shape()).ToString(), "s32[2]");
}

TEST(PromoteTest, BitcastsFollowTheLayoutsOfTheSource) {
  const std::string x = "x = f32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}}) ";
  EXPECT_EQ(Promoted(x + "ROOT b = f32[6] bitcast(x)"), "f64[6] {1, 4, 2, 5, 3, 6}");
  EXPECT_EQ(Promoted(x + "n = f32[2,3]{0,1} negate(x) ROOT b = f32[3,2]{0,1} bitcast(n)"),
            "f64[3,2] { { -1, -5 }, { -4, -3 }, { -2, -6 } }");
  EXPECT_EQ(Promoted("x = bf16[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}}) ROOT b = u16[6] bitcast(x)"),
            "u16[6] {16256, 16512, 16384, 16544, 16448, 16576}");
  EXPECT_EQ(Promoted("x = f32[2,3]{1,0:T(2,4)} constant({{1, 2, 3}, {4, 5, 6}}) unread = f32[6] bitcast(x) "
                     "ROOT b = f32[1,2,3]{2,1,0:T(2,4)} bitcast(x)"),
            "f64[1,2,3] { { { 1, 2, 3 }, { 4, 5, 6 } } }");
}

}  // namespace
}  // namespace toroid
