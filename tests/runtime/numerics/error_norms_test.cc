// BUILD: size = "small"
#include "runtime/numerics/error_norms.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

ErrorNorms Errors(const char* exact, const char* value) {
  return ErrorsFrom(ParseLiteral(exact), ParseLiteral(value)).at(0);
}

TEST(ErrorNormsTest, RootMeanSquareAndLargestOfTheDifferences) {
  const ErrorNorms errors = Errors("f64[4] {1, -5, 0, 2}", "bf16[4] {4, -1, 0, 2}");
  EXPECT_DOUBLE_EQ(errors.rms, 2.5);  // sqrt((9 + 16) / 4)
  EXPECT_DOUBLE_EQ(errors.max, 4);
  EXPECT_DOUBLE_EQ(errors.exact_rms, std::sqrt(30.0 / 4));
  EXPECT_DOUBLE_EQ(errors.exact_max, 5);
  EXPECT_EQ(errors.elements, 4);
}

TEST(ErrorNormsTest, NansAndInfinitiesCountWhereTheyAreNotInBoth) {
  EXPECT_EQ(Errors("f64[3] {nan, inf, -inf}", "f32[3] {nan, inf, -inf}").max, 0);
  EXPECT_EQ(Errors("f64[2] {1, 2}", "f32[2] {1, nan}").max, INFINITY);
  EXPECT_EQ(Errors("f64[2] {inf, 2}", "f32[2] {-inf, 2}").rms, INFINITY);
  EXPECT_EQ(Errors("f64[2] {inf, 2}", "f32[2] {inf, 2}").exact_max, 2);
}

TEST(ErrorNormsTest, SquaresNeitherOverflowNorVanish) {
  EXPECT_DOUBLE_EQ(Errors("f64[2] {0, 0}", "f64[2] {3e200, 4e200}").rms, 5e200 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(Errors("f64[2] {0, 0}", "f64[2] {3e-200, 4e-200}").rms, 5e-200 / std::sqrt(2.0));
}

TEST(ErrorNormsTest, ComplexNumbersByTheirAbsoluteValueIntegersByAtLeastOne) {
  EXPECT_DOUBLE_EQ(Errors("c128[1] {(0, 0)}", "c64[1] {(3, 4)}").max, 5);
  EXPECT_DOUBLE_EQ(Errors("s32[2] {7, 7}", "s32[2] {7, 10}").max, 3);
  EXPECT_DOUBLE_EQ(Errors("u64[1] {18446744073709551615}", "u64[1] {18446744073709551614}").max, 1);
  EXPECT_DOUBLE_EQ(Errors("pred[2] {true, false}", "pred[2] {true, true}").max, 1);
  EXPECT_DOUBLE_EQ(Errors("s4[2] {7, -8}", "s4[2] {7, -8}").max, 0);
}

TEST(ErrorNormsTest, OneEntryPerArrayLeaf) {
  const Literal exact = Literal::Tuple(
      {ParseLiteral("f64[1] {1}"), Literal::Tuple({ParseLiteral("s32[] 3"), ParseLiteral("f64[2] {4, 5}")})});
  EXPECT_EQ(ErrorsFrom(exact, exact).size(), 3);
}

TEST(ErrorNormsTest, RelativeErrorsAreAbsoluteWhereTheExactResultIsZero) {
  const RelativeErrors some = Relative({.rms = 1, .max = 2, .exact_rms = 4, .exact_max = 5});
  EXPECT_EQ(some.rms, 0.25);
  EXPECT_EQ(some.max, 0.4);
  const RelativeErrors zero = Relative({.rms = 1, .max = 2});
  EXPECT_EQ(zero.rms, 1);
  EXPECT_EQ(zero.max, 2);
}

TEST(ErrorNormsTest, TimesAsFarTakesTheWorseNorm) {
  const RelativeErrors yardstick = {.rms = 0.1, .max = 0.2};
  EXPECT_EQ(TimesAsFar(yardstick, yardstick, 0), 1);
  EXPECT_DOUBLE_EQ(TimesAsFar({.rms = 0.1, .max = 0.8}, yardstick, 0), 4);
  EXPECT_DOUBLE_EQ(TimesAsFar({.rms = 0.6, .max = 0.8}, yardstick, 0), 6);
  EXPECT_DOUBLE_EQ(TimesAsFar({.rms = 0.6, .max = 0.8}, yardstick, 0.4), 2);
  EXPECT_EQ(TimesAsFar({}, {}, 0), 0);
  EXPECT_EQ(TimesAsFar(yardstick, {}, 0), INFINITY);
}

}  // namespace
}  // namespace toroid
