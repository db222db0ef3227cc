// BUILD: size = "small"
// Elementwise ops: the documented edge cases, type by type.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hlo/ir/native_types.h"
#include "runtime/engine/executor.h"
#include "runtime/loops/scalar_ops.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

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

std::string Converted(const std::string& from, const std::string& to, const std::string& x, int n) {
  return Evaluate(absl::Substitute("x = $0[$3] constant({$2}) ROOT y = $1[$3] convert(x)", from, to, x, n));
}

TEST(IntegerTest, DivisionByZeroGivesAllOnesAndOverflowWraps) {
  EXPECT_EQ(Binary("s32", "divide", "7, -7, 5, -2147483648", "2, 2, 0, -1", 4), "{3, -3, -1, -2147483648}");
  EXPECT_EQ(Binary("u8", "divide", "7, 255", "0, 16", 2), "{255, 15}");
  EXPECT_EQ(Binary("s4", "divide", "-8, 5", "-1, 0", 2), "{-8, -1}");
  EXPECT_EQ(Binary("s64", "divide", "-9223372036854775808", "-1", 1), "{-9223372036854775808}");
}

// Remainders are computed in blocks as vectors, and by fmod where a block has a large quotient, a zero or an infinity.
TEST(FloatTest, RemaindersAreThoseOfFmodInEveryBit) {
  constexpr int kCount = 1 << 16;
  std::mt19937 random(5);
  Literal x(Shape(xla::F32, {kCount})), y(Shape(xla::F32, {kCount}));
  const auto bits = [&](uint32_t exponents) {
    const uint32_t exponent = 127 - exponents / 2 + static_cast<uint32_t>(random()) % exponents;
    return std::bit_cast<float>((static_cast<uint32_t>(random()) & 0x807FFFFFu) | (exponent << 23));
  };
  for (int i = 0; i < kCount; ++i) {
    float &a = x.mutable_data<float>()[i], &b = y.mutable_data<float>()[i];
    // Quotients up to 2^20, up to 2^40, multiples and their neighbours, any bits.
    const int kind = i / 1024 % 4;
    b = kind == 3 ? std::bit_cast<float>(static_cast<uint32_t>(random())) : bits(kind == 1 ? 40 : 20);
    a = kind == 3 ? std::bit_cast<float>(static_cast<uint32_t>(random())) : bits(20);
    if (kind == 2)
      a = std::nextafter(b * static_cast<float>(random() % 100000), static_cast<float>(random() % 3) - 1);
  }
  const auto check = [&](const std::string& divisor, float (*expected)(float, float)) {
    const auto module =
        MakeModule(absl::StrCat("x = f32[65536] parameter(0) y = f32[65536] parameter(1) ", divisor));
    ASSERT_OK_AND_ASSIGN(const Literal r, RunSingle(*module, {x, y}));
    for (int i = 0; i < kCount; ++i) {
      const float a = x.data<float>()[i], b = y.data<float>()[i];
      const float actual = r.data<float>()[i], wanted = expected(a, b);
      if (std::isnan(wanted) && std::isnan(actual)) continue;
      ASSERT_EQ(std::bit_cast<uint32_t>(actual), std::bit_cast<uint32_t>(wanted)) << a << " by " << b;
    }
  };
  check("ROOT r = f32[65536] remainder(x, y)", [](float a, float b) { return std::fmod(a, b); });
  const std::string three = "c = f32[] constant(0.3) t = f32[65536] broadcast(c), dimensions={} ";
  check(three + "ROOT r = f32[65536] remainder(x, t)", [](float a, float) { return std::fmod(a, 0.3f); });
  check(three + "ROOT r = f32[65536] remainder(t, y)", [](float, float b) { return std::fmod(0.3f, b); });
}

TEST(IntegerTest, RemainderHasTheSignOfTheDividend) {
  EXPECT_EQ(Binary("s32", "remainder", "7, -7, 5, -2147483648", "3, 3, 0, -1", 4), "{1, -1, 5, 0}");
  EXPECT_EQ(Binary("u16", "remainder", "7, 9", "4, 0", 2), "{3, 9}");
}

TEST(IntegerTest, ArithmeticWraps) {
  EXPECT_EQ(Binary("s8", "add", "127, -128", "1, -1", 2), "{-128, 127}");
  EXPECT_EQ(Binary("u16", "multiply", "65535, 256", "65535, 256", 2), "{1, 0}");
  EXPECT_EQ(Binary("s4", "multiply", "7, 3", "7, 3", 2), "{1, -7}");
  EXPECT_EQ(Binary("u4", "subtract", "0", "1", 1), "{15}");
}

TEST(IntegerTest, ShiftAmountsAreUnsignedAndBounded) {
  EXPECT_EQ(Binary("s32", "shift-left", "1, 1, 1, 1", "31, 32, -1, 3", 4), "{-2147483648, 0, 0, 8}");
  EXPECT_EQ(Binary("s32", "shift-right-logical", "-1, -1, -8", "28, 32, 1", 3), "{15, 0, 2147483644}");
  EXPECT_EQ(Binary("s32", "shift-right-arithmetic", "-8, 8, -8, 8", "1, 1, 99, -1", 4), "{-4, 4, -1, 0}");
  EXPECT_EQ(Binary("s4", "shift-right-logical", "-8, -1", "1, 3", 2), "{4, 1}");
}

TEST(IntegerTest, PowerOfNegativeExponents) {
  EXPECT_EQ(Binary("s32", "power", "3, 1, -1, -1, 2, 0", "4, -5, -3, -2, -1, 0", 6), "{81, 1, -1, 1, 0, 1}");
  EXPECT_EQ(Binary("u8", "power", "2, 3", "9, 5", 2), "{0, 243}");
}

TEST(IntegerTest, UnaryOps) {
  EXPECT_EQ(Unary("s32", "abs", "-5, 5, -2147483648", 3), "{5, 5, -2147483648}");
  EXPECT_EQ(Unary("s8", "sign", "-5, 0, 9", 3), "{-1, 0, 1}");
  EXPECT_EQ(Unary("u8", "not", "0, 5", 2), "{255, 250}");
  EXPECT_EQ(Unary("s32", "popcnt", "-1, 0, 5", 3), "{32, 0, 2}");
  EXPECT_EQ(Unary("s32", "count-leading-zeros", "0, 1, -1", 3), "{32, 31, 0}");
  EXPECT_EQ(Unary("u4", "count-leading-zeros", "0, 1, 15", 3), "{4, 3, 0}");
  EXPECT_EQ(Unary("s4", "popcnt", "-1, 3", 2), "{4, 2}");
}

TEST(PredTest, ArithmeticIsLogic) {
  EXPECT_EQ(Binary("pred", "add", "true, false", "true, false", 2), "{1, 0}");
  EXPECT_EQ(Binary("pred", "multiply", "true, true", "true, false", 2), "{1, 0}");
  EXPECT_EQ(Binary("pred", "maximum", "true, false", "false, false", 2), "{1, 0}");
  EXPECT_EQ(Unary("pred", "not", "true, false", 2), "{0, 1}");
}

TEST(FloatTest, MaximumAndMinimumPropagateNan) {
  for (const std::string type : {"f16", "bf16", "f32", "f64"}) {
    EXPECT_EQ(Binary(type, "maximum", "nan, 1, 3, -inf", "1, nan, 2, 5", 4), "{nan, nan, 3, 5}");
    EXPECT_EQ(Binary(type, "minimum", "nan, 1, 3, -inf", "1, nan, 2, 5", 4), "{nan, nan, 2, -inf}");
  }
}

TEST(FloatTest, PowersOfOneAndToTheZero) {
  EXPECT_EQ(Binary("f32", "power", "1, nan, 2, -8", "nan, 0, 0.5, 0.5", 4), "{1, 1, 1.4142135, -nan}");
}

TEST(FloatTest, RemainderIsFmod) {
  EXPECT_EQ(Binary("f32", "remainder", "5.5, -5.5, 5.5", "2, 2, inf", 3), "{1.5, -1.5, 5.5}");
}

TEST(FloatTest, SignsRoundingAndFiniteness) {
  EXPECT_EQ(Unary("f32", "sign", "-2, 0, -0, 3, nan", 5), "{-1, 0, -0, 1, nan}");
  EXPECT_EQ(Unary("f32", "round-nearest-afz", "0.5, 1.5, 2.5, -0.5", 4), "{1, 2, 3, -1}");
  EXPECT_EQ(Unary("f32", "round-nearest-even", "0.5, 1.5, 2.5, -0.5", 4), "{0, 2, 2, -0}");
  EXPECT_EQ(Unary("f32", "floor", "-0.5, 1.5, -0, inf", 4), "{-1, 1, -0, inf}");
  EXPECT_EQ(Unary("f32", "ceil", "-0.5, 1.5, -0, -inf", 4), "{-0, 2, -0, -inf}");
  EXPECT_EQ(Evaluate("x = f32[3] constant({1, inf, nan}) ROOT y = pred[3] is-finite(x)"), "{1, 0, 0}");
  EXPECT_EQ(Unary("f32", "negate", "0, -1", 2), "{-0, 1}");
}

TEST(FloatTest, RootsAndLogarithmsAtTheirEdges) {
  EXPECT_EQ(Unary("f64", "rsqrt", "4, 0, inf", 3), "{0.5, inf, 0}");
  EXPECT_EQ(Unary("f32", "cbrt", "-27, 8", 2), "{-3, 2}");
  EXPECT_EQ(Unary("f64", "log", "1, 0", 2), "{0, -inf}");
  EXPECT_EQ(Unary("f64", "exponential-minus-one", "1e-20, 0", 2), "{1e-20, 0}");
  EXPECT_EQ(Unary("f64", "log-plus-one", "1e-20, 0", 2), "{1e-20, 0}");
  EXPECT_EQ(Unary("f32", "logistic", "0, inf, -inf", 3), "{0.5, 1, 0}");
}

TEST(FloatTest, VectorizedFunctionsAreAccurate) {
  double exp_error = 0, tanh_error = 0;
  for (double x = -120; x < 100; x += 0.00137) {
    const float f = static_cast<float>(x);
    const double e = std::exp(static_cast<double>(f)), t = std::tanh(static_cast<double>(f));
    if (e > 1.2e-38 && e < 3.4e38)
      exp_error = std::max(exp_error, std::fabs(FloatOps<float>::Exp(f) / e - 1));
    if (t != 0) tanh_error = std::max(tanh_error, std::fabs(FloatOps<float>::Tanh(f) / t - 1));
  }
  EXPECT_LT(exp_error, 2.4e-7);
  EXPECT_LT(tanh_error, 3e-7);
  EXPECT_EQ(Unary("f32", "exponential", "0, -inf, inf, nan, 89, -104, -100", 7),
            "{1, 0, inf, nan, inf, 0, 3.8e-44}");
  EXPECT_EQ(Unary("f32", "tanh", "-0, inf, -inf, nan, 1e-30", 5), "{-0, 1, -1, nan, 1e-30}");
}

TEST(FloatTest, NarrowTypesRoundOncePerOp) {
  // 1 + 2^-9 is not a bf16: to even, down.
  EXPECT_EQ(Binary("bf16", "add", "1, 1", "0.00390625, 0.01171875", 2), "{1, 1.016}");
  EXPECT_EQ(Binary("f8e4m3fn", "add", "448, 240", "448, 1", 2), "{nan, 240}");
  EXPECT_EQ(Binary("f8e5m2", "multiply", "57344", "2", 1), "{inf}");
}

TEST(ReducePrecisionTest, RoundsMantissaAndFlushesExponent) {
  EXPECT_EQ(Evaluate("x = f32[5] constant({1.2, 1e30, 1e-30, nan, -3.3}) "
                     "ROOT y = f32[5] reduce-precision(x), exponent_bits=5, mantissa_bits=3"),
            "{1.25, inf, 0, nan, -3.25}");
}

TEST(ComplexTest, Basics) {
  EXPECT_EQ(Evaluate("a = f32[2] constant({3, 1}) b = f32[2] constant({4, -1}) "
                     "c = c64[2] complex(a, b) ROOT y = f32[2] abs(c)"),
            "{5, 1.4142135}");
  EXPECT_EQ(Evaluate("c = c64[2] constant({(1, 2), (0, 0)}) d = c64[2] constant({(3, -1), (2, 0)}) "
                     "ROOT y = c64[2] multiply(c, d)"),
            "{(5, 5), (0, 0)}");
  EXPECT_EQ(Evaluate("c = c64[1] constant({(1, 2)}) ROOT y = f32[1] imag(c)"), "{2}");
  EXPECT_EQ(Evaluate("c = c64[2] constant({(3, 4), (0, 0)}) ROOT y = c64[2] sign(c)"),
            "{(0.6, 0.8), (0, 0)}");
}

TEST(CompareTest, PartialOrderOfFloats) {
  const std::string operands =
      "a = f32[4] constant({nan, 0, 1, -inf}) b = f32[4] constant({nan, -0, 2, inf}) ";
  EXPECT_EQ(Evaluate(operands + "ROOT y = pred[4] compare(a, b), direction=EQ"), "{0, 1, 0, 0}");
  EXPECT_EQ(Evaluate(operands + "ROOT y = pred[4] compare(a, b), direction=NE"), "{1, 0, 1, 1}");
  EXPECT_EQ(Evaluate(operands + "ROOT y = pred[4] compare(a, b), direction=GE"), "{0, 1, 0, 0}");
  EXPECT_EQ(Evaluate(operands + "ROOT y = pred[4] compare(a, b), direction=LT"), "{0, 0, 1, 1}");
}

TEST(CompareTest, TotalOrderOfFloats) {
  for (const std::string type : {"f16", "bf16", "f32", "f64", "f8e5m2"}) {
    EXPECT_EQ(Evaluate(absl::Substitute("a = $0[5] constant({-nan, -inf, -0, inf, nan}) "
                                        "b = $0[5] constant({-inf, -1, 0, nan, nan}) "
                                        "ROOT y = pred[5] compare(a, b), direction=LT, type=TOTALORDER",
                                        type)),
              "{1, 1, 1, 1, 0}")
        << type;
  }
}

TEST(CompareTest, SignednessOfIntegers) {
  EXPECT_EQ(Evaluate("a = s8[2] constant({-1, 1}) b = s8[2] constant({1, 1}) "
                     "ROOT y = pred[2] compare(a, b), direction=LT"),
            "{1, 0}");
  EXPECT_EQ(Evaluate("a = u8[2] constant({255, 1}) b = u8[2] constant({1, 1}) "
                     "ROOT y = pred[2] compare(a, b), direction=LT"),
            "{0, 0}");
}

TEST(SelectTest, ByElementAndByScalar) {
  EXPECT_EQ(Evaluate("p = pred[3] constant({true, false, true}) a = s32[3] constant({1, 2, 3}) "
                     "b = s32[3] constant({4, 5, 6}) ROOT y = s32[3] select(p, a, b)"),
            "{1, 5, 3}");
  EXPECT_EQ(Evaluate("p = pred[] constant(false) a = s32[3] constant({1, 2, 3}) "
                     "b = s32[3] constant({4, 5, 6}) ROOT y = s32[3] select(p, a, b)"),
            "{4, 5, 6}");
}

TEST(ClampTest, ScalarBoundsAndNan) {
  EXPECT_EQ(Evaluate("l = f32[] constant(0) h = f32[] constant(2) x = f32[4] constant({-1, 1, 3, nan}) "
                     "ROOT y = f32[4] clamp(l, x, h)"),
            "{0, 1, 2, nan}");
  EXPECT_EQ(
      Evaluate("l = f32[2] constant({nan, 0}) h = f32[2] constant({1, nan}) x = f32[2] constant({1, 1}) "
               "ROOT y = f32[2] clamp(l, x, h)"),
      "{nan, nan}");
  EXPECT_EQ(Evaluate("l = s32[] constant(5) h = s32[] constant(2) x = s32[2] constant({0, 9}) "
                     "ROOT y = s32[2] clamp(l, x, h)"),
            "{2, 2}");
}

TEST(ConvertTest, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(Converted("f32", "s32", "1.9, -1.9, 3e9, -3e9, nan", 5), "{1, -1, 2147483647, -2147483648, 0}");
  EXPECT_EQ(Converted("f32", "u8", "300, -1, 254.9, nan", 4), "{255, 0, 254, 0}");
  EXPECT_EQ(Converted("f64", "s64", "1e300, -1e300", 2), "{9223372036854775807, -9223372036854775808}");
  EXPECT_EQ(Converted("f64", "u64", "1e300, 18446744073709549568", 2),
            "{18446744073709551615, 18446744073709549568}");
  EXPECT_EQ(Converted("f32", "s4", "7.5, -100, 100", 3), "{7, -8, 7}");
}

TEST(ConvertTest, IntegersWrapAndExtend) {
  EXPECT_EQ(Converted("s32", "s8", "300, -129", 2), "{44, 127}");
  EXPECT_EQ(Converted("s8", "u32", "-1, 5", 2), "{4294967295, 5}");
  EXPECT_EQ(Converted("u8", "s4", "8, 15", 2), "{-8, -1}");
  EXPECT_EQ(Converted("pred", "s32", "true, false", 2), "{1, 0}");
  EXPECT_EQ(Converted("f32", "pred", "0.1, -0, nan", 3), "{1, 0, 1}");
}

TEST(ConvertTest, RoundsOnceToNarrowFloats) {
  // 1 + 2^-8 + 2^-30 lies just above a tie of bf16; rounding to f32 first would land on the tie and go down.
  EXPECT_EQ(Evaluate("x = f64[2] constant({1.0039062509313226, 1.00390625}) y = bf16[2] convert(x) "
                     "ROOT z = f32[2] convert(y)"),
            "{1.0078125, 1}");
  // 2^24 + 2^16 is a tie of bf16.
  EXPECT_EQ(
      Evaluate("x = s32[2] constant({16842753, 16842752}) y = bf16[2] convert(x) ROOT z = s32[2] convert(y)"),
      "{16908288, 16777216}");
  EXPECT_EQ(Converted("f32", "f16", "65520, 65519, 1e-8", 3), "{inf, 65504, 0}");
  EXPECT_EQ(Converted("f32", "f8e4m3fn", "500, 17", 2), "{nan, 16}");
}

TEST(ConvertTest, ComplexAndReal) {
  EXPECT_EQ(Converted("f32", "c64", "2", 1), "{(2, 0)}");
  EXPECT_EQ(Converted("c64", "f32", "(2, 3)", 1), "{2}");
}

TEST(ComplexTest, BranchCutsFollowTheSignOfZero) {
  EXPECT_EQ(
      Evaluate("z = c64[2] constant({(-4, -0), (-4, 0)}) l = c64[2] log-plus-one(z) ROOT i = f32[2] imag(l)"),
      "{-3.1415927, 3.1415927}");
}

TEST(StochasticConvertTest, FourBitFloats) {
  // 1.5 goes up where random < 8 of 16.
  EXPECT_EQ(Evaluate("x = f4e2m1fn[4] constant({1.5, 1.5, -1.5, 3}) r = u4[4] constant({7, 8, 7, 0}) "
                     "ROOT y = s8[4] stochastic-convert(x, r)"),
            "{2, 1, -2, 3}");
}

TEST(BitcastTest, APredIsAByte) {
  EXPECT_EQ(Evaluate("x = pred[2] constant({true, false}) ROOT y = u8[2] bitcast(x)"), "{1, 0}");
  EXPECT_EQ(Evaluate("x = u8[2] constant({1, 0}) ROOT y = pred[2] bitcast(x)"), "{1, 0}");
  // Any byte other than 0 is true.
  EXPECT_EQ(Evaluate("x = u8[2] constant({6, 0}) p = pred[2] bitcast(x) ROOT y = u8[2] convert(p)"),
            "{1, 0}");
}

TEST(BitcastTest, ElementsKeepTheirPlaceInMemory) {
  EXPECT_EQ(Evaluate("x = s32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}}) ROOT y = s32[3,2]{1,0} bitcast(x)"),
            "{ { 1, 4 }, { 2, 5 }, { 3, 6 } }");
  EXPECT_EQ(Evaluate("x = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}}) ROOT y = s32[3,2]{0,1} bitcast(x)"),
            "{ { 1, 4 }, { 2, 5 }, { 3, 6 } }");
  EXPECT_EQ(Evaluate("x = s32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}}) ROOT y = s32[6] bitcast(x)"),
            "{1, 4, 2, 5, 3, 6}");
  EXPECT_EQ(Evaluate("x = u16[2,2]{0,1} constant({{1, 2}, {3, 4}}) ROOT y = u32[2] bitcast(x)"),
            "{196609, 262146}");
  EXPECT_EQ(Evaluate("x = s4[2,2]{0,1} constant({{1, 2}, {3, 4}}) ROOT y = u8[2] bitcast(x)"), "{49, 66}");
}

TEST(BitcastConvertTest, PartsAreLeastSignificantFirst) {
  EXPECT_EQ(Evaluate("x = u32[1] constant({258}) ROOT y = u8[1,4] bitcast-convert(x)"), "{ { 2, 1, 0, 0 } }");
  EXPECT_EQ(Evaluate("x = u8[1,4] constant({{2, 1, 0, 0}}) ROOT y = u32[1] bitcast-convert(x)"), "{258}");
  EXPECT_EQ(Evaluate("x = f32[1] constant({1}) ROOT y = s32[1] bitcast-convert(x)"), "{1065353216}");
  EXPECT_EQ(Evaluate("x = u8[1] constant({241}) ROOT y = s4[1,2] bitcast-convert(x)"), "{ { 1, -1 } }");
  EXPECT_EQ(Evaluate("x = s4[1,2] constant({{1, -1}}) ROOT y = u8[1] bitcast-convert(x)"), "{241}");
}

TEST(StochasticConvertTest, RoundsUpByTheFraction) {
  EXPECT_EQ(Evaluate("x = f32[5] constant({1.5, 1.5, -1.5, nan, inf}) "
                     "r = u32[5] constant({2147483647, 2147483648, 0, 0, 0}) "
                     "ROOT y = s32[5] stochastic-convert(x, r)"),
            "{2, 1, -2, 0, 2147483647}");
}

// Every pair of 8-bit values, against plain arithmetic in wider integers.
TEST(IntegerTest, AllPairsOfBytesAgreeWithWideArithmetic) {
  using S = IntOps<int8_t>;
  using U = IntOps<uint8_t>;
  using N = IntOps<int4>;
  for (int a = -128; a < 256; ++a) {
    for (int b = -128; b < 256; ++b) {
      const int8_t x = static_cast<int8_t>(a), y = static_cast<int8_t>(b);
      const uint8_t u = static_cast<uint8_t>(a), v = static_cast<uint8_t>(b);
      ASSERT_EQ(S::Add(x, y), static_cast<int8_t>(x + y));
      ASSERT_EQ(S::Multiply(x, y), static_cast<int8_t>(x * y));
      ASSERT_EQ(U::Subtract(u, v), static_cast<uint8_t>(u - v));
      ASSERT_EQ(S::Divide(x, y), y == 0 ? int8_t{-1} : static_cast<int8_t>(x / y));
      ASSERT_EQ(U::Divide(u, v), v == 0 ? uint8_t{255} : static_cast<uint8_t>(u / v));
      ASSERT_EQ(S::Remainder(x, y), y == 0 ? x : static_cast<int8_t>(x % y));
      ASSERT_EQ(S::MultiplyHigh(x, y), static_cast<int8_t>((x * y) >> 8));
      ASSERT_EQ(U::MultiplyHigh(u, v), static_cast<uint8_t>((u * v) >> 8));
      ASSERT_EQ(S::ShiftRightArithmetic(x, y),
                v >= 8 ? (x < 0 ? int8_t{-1} : int8_t{0}) : static_cast<int8_t>(x >> v));
      const int4 p(a), q(b);
      ASSERT_EQ(int{N::Add(p, q)}, int{int4(int{p} + int{q})});
      ASSERT_EQ(int{N::Divide(p, q)}, int{q} == 0 ? -1 : int{int4(int{p} / int{q})});
    }
  }
}

}  // namespace
}  // namespace toroid
