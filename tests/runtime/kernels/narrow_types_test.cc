// BUILD: size = "small"
// Types of 2 to 16 bits: rounding, overflow, NaN and the zeros they lack, as literal values.
#include <string>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

std::string Unary(const std::string& type, const std::string& op, const std::string& x, int n) {
  return Evaluate(absl::Substitute("x = $0[$3] constant({$2}) ROOT y = $0[$3] $1(x)", type, op, x, n));
}

std::string Binary(const std::string& type, const std::string& op, const std::string& a, const std::string& b,
                   int n) {
  return Evaluate(absl::Substitute(
      "a = $0[$4] constant({$2}) b = $0[$4] constant({$3}) ROOT y = $0[$4] $1(a, b)", type, op, a, b, n));
}

// Converts to the narrow type and back to f32, which prints exactly.
std::string Rounded(const std::string& type, const std::string& x, int n) {
  return Evaluate(absl::Substitute(
      "x = f32[$2] constant({$1}) y = $0[$2] convert(x) ROOT z = f32[$2] convert(y)", type, x, n));
}

std::string Converted(const std::string& from, const std::string& to, const std::string& x, int n) {
  return Evaluate(absl::Substitute("x = $0[$3] constant({$2}) ROOT y = $1[$3] convert(x)", from, to, x, n));
}

TEST(NarrowFloatTest, OverflowIsInfinityWhereThereIsOne) {
  EXPECT_EQ(Rounded("f8e5m2", "57344, 61439, 61440, -1e9, inf", 5), "{57344, 57344, inf, -inf, inf}");
  EXPECT_EQ(Rounded("f8e4m3", "240, 247, 248, -300", 4), "{240, 240, inf, -inf}");
  EXPECT_EQ(Rounded("f8e3m4", "15.5, 15.7, 15.75, -20", 4), "{15.5, 15.5, inf, -inf}");
  EXPECT_EQ(Rounded("f16", "65504, 65519, 65520, -inf", 4), "{65504, 65504, inf, -inf}");
  EXPECT_EQ(Binary("f16", "multiply", "65504, 300", "2, -300", 2), "{inf, -inf}");
}

TEST(NarrowFloatTest, OverflowIsNanWithoutInfinities) {
  EXPECT_EQ(Rounded("f8e4m3fn", "448, 464, 465, inf", 4), "{448, 448, nan, nan}");
  for (const std::string type : {"f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3b11fnuz"}) {
    EXPECT_EQ(Rounded(type, "1e30, inf, nan", 3), Rounded(type, "nan, nan, nan", 3)) << type;
  }
  EXPECT_EQ(Rounded("f8e4m3fnuz", "240, 247", 2), "{240, 240}");
  EXPECT_EQ(Rounded("f8e5m2fnuz", "57344, 61439", 2), "{57344, 57344}");
  EXPECT_EQ(Rounded("f8e4m3b11fnuz", "30, 30.9, -30", 3), "{30, 30, -30}");
}

TEST(NarrowFloatTest, FormatsWithoutNegativeZeroHaveOneZero) {
  for (const std::string type : {"f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3b11fnuz"}) {
    EXPECT_EQ(Rounded(type, "-0, -1e-30, 0", 3), "{0, 0, 0}") << type;
    EXPECT_EQ(Binary(type, "multiply", "-1, 0", "0, -2", 2), "{0, 0}") << type;
  }
  EXPECT_EQ(Rounded("f8e5m2", "-0, -1e-30", 2), "{-0, -0}");
}

TEST(NarrowFloatTest, FourBitsSaturateAndHaveNoNan) {
  // 0, 0.5, 1, 1.5, 2, 3, 4, 6; ties to even codes.
  EXPECT_EQ(Rounded("f4e2m1fn", "0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, -5.1", 8), "{0, 1, 1, 2, 2, 4, 4, -6}");
  EXPECT_EQ(Rounded("f4e2m1fn", "100, -100, inf, -inf, nan", 5), "{6, -6, 6, -6, -0}");
  EXPECT_EQ(Binary("f4e2m1fn", "add", "6, -6, 4", "6, -4, 1", 3), "{6, -6, 4}");
  EXPECT_EQ(Binary("f4e2m1fn", "divide", "0, 3", "0, 2", 2), "{-0, 1.5}");
}

TEST(NarrowFloatTest, PowersOfTwoAlone) {
  EXPECT_EQ(Rounded("f8e8m0fnu", "1, 3, 5, 6, 0.75", 5), "{1, 2, 4, 8, 0.5}");
  EXPECT_EQ(Rounded("f8e8m0fnu", "0, -1, inf, nan", 4), Rounded("f8e8m0fnu", "nan, nan, nan, nan", 4));
  EXPECT_EQ(Binary("f8e8m0fnu", "multiply", "4, 0.5", "8, 4", 2), "{32, 2}");
}

TEST(NarrowFloatTest, TiesGoToEven) {
  EXPECT_EQ(Binary("f16", "add", "2048, 2050", "1, 1", 2), "{2048, 2052}");
  EXPECT_EQ(Rounded("bf16", "257, 259, -257, 1.00390625, 1.01171875", 5), "{256, 260, -256, 1, 1.015625}");
  EXPECT_EQ(Rounded("f8e5m2", "1.125, 1.375, 1.126", 3), "{1, 1.5, 1.25}");
  EXPECT_EQ(Rounded("f8e4m3fn", "17, 19, 17.1", 3), "{16, 20, 18}");
}

TEST(NarrowFloatTest, DenormalsAreKept) {
  EXPECT_EQ(Rounded("f16", "5.9604645e-08, 2.9802322e-08, 3e-08", 3), "{5.9604645e-08, 0, 5.9604645e-08}");
  EXPECT_EQ(Rounded("f8e5m2", "1.5258789e-05, 7e-06", 2), "{1.5258789e-05, 0}");
  EXPECT_EQ(Rounded("f8e4m3fn", "0.001953125, 0.0009765625, 0.001", 3), "{0.001953125, 0, 0.001953125}");
}

TEST(NarrowFloatTest, NansPassThroughArithmeticMinimumAndMaximum) {
  for (const std::string type : {"f8e5m2", "f8e4m3", "f8e4m3fn", "f8e3m4", "f16", "bf16"}) {
    EXPECT_EQ(Binary(type, "maximum", "nan, 1", "1, nan", 2), "{nan, nan}") << type;
    EXPECT_EQ(Binary(type, "minimum", "nan, 1", "1, nan", 2), "{nan, nan}") << type;
    EXPECT_EQ(Binary(type, "add", "nan, 1", "1, nan", 2), "{nan, nan}") << type;
    EXPECT_EQ(Unary(type, "floor", "nan, 1.5, -1.5", 3), "{nan, 1, -2}") << type;
    EXPECT_EQ(Unary(type, "sign", "nan, -0, -3", 3), "{nan, -0, -1}") << type;
    EXPECT_EQ(Converted(type, "s32", "nan, 1.5, -2", 3), "{0, 1, -2}") << type;
  }
}

TEST(NarrowFloatTest, RoundedOnceFromWideTypes) {
  // Just above the tie between 1 and 1.125; a conversion through f16 would round it to the tie and then down.
  EXPECT_EQ(Evaluate("x = f64[2] constant({1.0625000001, 1.0625}) y = f8e4m3fn[2] convert(x) ROOT z = f32[2] "
                     "convert(y)"),
            "{1.125, 1}");
  EXPECT_EQ(Converted("s32", "f16", "2049, 2051, 70000", 3), "{2048, 2052, inf}");
}

TEST(NarrowIntegerTest, TwoBitsWrap) {
  EXPECT_EQ(Binary("s2", "add", "1, -2, 1", "1, -1, 0", 3), "{-2, 1, 1}");
  EXPECT_EQ(Binary("u2", "add", "3, 2", "1, 3", 2), "{0, 1}");
  EXPECT_EQ(Binary("u2", "subtract", "0, 1", "1, 3", 2), "{3, 2}");
  EXPECT_EQ(Binary("s2", "multiply", "-2, -2", "-2, 1", 2), "{0, -2}");
  EXPECT_EQ(Unary("s2", "negate", "-2, 1", 2), "{-2, -1}");
  EXPECT_EQ(Unary("s2", "abs", "-2, -1", 2), "{-2, 1}");
}

TEST(NarrowIntegerTest, DivisionByZeroAndOverflow) {
  EXPECT_EQ(Binary("s2", "divide", "-2, 1, -2", "-1, 0, 0", 3), "{-2, -1, -1}");
  EXPECT_EQ(Binary("u2", "divide", "3, 3", "0, 2", 2), "{3, 1}");
  EXPECT_EQ(Binary("s2", "remainder", "-2, 1, -2", "-1, 0, 0", 3), "{0, 1, -2}");
  EXPECT_EQ(Binary("u4", "divide", "15, 9", "0, 4", 2), "{15, 2}");
  EXPECT_EQ(Binary("u4", "remainder", "15, 9", "0, 4", 2), "{15, 1}");
}

TEST(NarrowIntegerTest, ShiftsBeyondTheWidth) {
  EXPECT_EQ(Binary("u2", "shift-left", "1, 1, 3", "1, 2, 3", 3), "{2, 0, 0}");
  EXPECT_EQ(Binary("s2", "shift-right-arithmetic", "-2, -2, 1", "1, -1, -1", 3), "{-1, -1, 0}");
  EXPECT_EQ(Binary("s2", "shift-right-logical", "-1, -1", "1, -2", 2), "{1, 0}");
  EXPECT_EQ(Binary("u4", "shift-right-logical", "15, 15", "3, 4", 2), "{1, 0}");
  EXPECT_EQ(Binary("s4", "shift-left", "1, 1", "3, -8", 2), "{-8, 0}");
}

TEST(NarrowIntegerTest, BitsAndHalves) {
  EXPECT_EQ(Unary("u2", "popcnt", "3, 0, 2", 3), "{2, 0, 1}");
  // Three would be needed for s2's leading zeros of 0: two, which wraps to -2.
  EXPECT_EQ(Unary("u2", "count-leading-zeros", "0, 1, 2", 3), "{2, 1, 0}");
  EXPECT_EQ(Unary("s2", "count-leading-zeros", "0, 1", 2), "{-2, 1}");
  EXPECT_EQ(Binary("s4", "mulhi", "7, -8, -8", "7, -8, 7", 3), "{3, 4, -4}");
  EXPECT_EQ(Binary("u4", "mulhi", "15, 4", "15, 3", 2), "{14, 0}");
  EXPECT_EQ(Binary("u2", "power", "3, 2, 0", "2, 2, 0", 3), "{1, 0, 1}");
}

TEST(NarrowIntegerTest, ConversionsSaturateFromFloatsAndWrapFromIntegers) {
  EXPECT_EQ(Converted("f32", "s2", "5, -9, 1.9, -1.9, nan", 5), "{1, -2, 1, -1, 0}");
  EXPECT_EQ(Converted("f32", "u2", "7.9, -1, 2.9, inf, -inf", 5), "{3, 0, 2, 3, 0}");
  EXPECT_EQ(Converted("bf16", "u4", "100, -3, 14.5", 3), "{15, 0, 14}");
  EXPECT_EQ(Converted("s32", "u2", "5, -1", 2), "{1, 3}");
  EXPECT_EQ(Converted("s32", "s2", "2, 3, -3", 3), "{-2, -1, 1}");
  EXPECT_EQ(Converted("s2", "u32", "-1, 1", 2), "{4294967295, 1}");
  EXPECT_EQ(Converted("u2", "s4", "3", 1), "{3}");
}

TEST(ReducePrecisionTest, FormatsSignsAndNan) {
  const auto reduced = [](const std::string& type, const std::string& x, int n, int exponent, int mantissa) {
    return Evaluate(absl::Substitute(
        "x = $0[$2] constant({$1}) ROOT y = $0[$2] reduce-precision(x), exponent_bits=$3, mantissa_bits=$4",
        type, x, n, exponent, mantissa));
  };
  // The formats of bf16 and f16.
  EXPECT_EQ(reduced("f32", "257, 259, 3.4e38, -3.4e38", 4, 8, 7), "{256, 260, inf, -inf}");
  EXPECT_EQ(reduced("f32", "65519, 65520, 2049, -70000", 4, 5, 10), "{65504, inf, 2048, -inf}");
  // A value that would be denormal becomes a zero of its sign.
  EXPECT_EQ(reduced("f32", "6.1035156e-05, 3e-05, -3e-05", 3, 5, 10), "{6.1035156e-05, 0, -0}");
  // A format with the 5 exponent bits of f16 keeps f16's denormals and rounds their mantissas.
  EXPECT_EQ(reduced("f16", "1.0014e-05, 1.526e-05, -6e-08", 3, 5, 10), "{1e-05, 1.526e-05, -6e-08}");
  EXPECT_EQ(reduced("f16", "1.0014e-05, 1.526e-05", 2, 5, 2), "{1.526e-05, 1.526e-05}");
  // Without mantissa bits ties go to even exponent fields: 2, not 4.
  EXPECT_EQ(reduced("f32", "nan, inf, -0, 3", 4, 5, 0), "{nan, inf, -0, 2}");
  EXPECT_EQ(reduced("f64", "1.0000001, 1e200", 2, 8, 23), "{1.0000001192092896, inf}");
  EXPECT_EQ(reduced("f32", "1.2345, -7", 2, 8, 23), "{1.2345, -7}");
  EXPECT_EQ(reduced("bf16", "1.25, 1.75", 2, 8, 1), "{1, 2}");
}

}  // namespace
}  // namespace toroid
