// BUILD: size = "medium"
// Elementwise ops of one operand on random values of every type they allow, against a formula in double or
// __int128.
#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr int64_t kCount = 256;

Literal Apply(const std::string& op, PrimitiveType result, const Literal& x,
              const std::string& attributes = "") {
  const auto module = MakeModule(absl::StrCat("x = ", TypedShape(x.shape().element_type(), {kCount}),
                                              " parameter(0) ROOT y = ", TypedShape(result, {kCount}), " ",
                                              op, "(x)", attributes));
  absl::StatusOr<Literal> y = RunSingle(*module, {x});
  TOROID_CHECK(y.ok(), op, ": ", y.status().ToString());
  return *std::move(y);
}

struct FloatCase {
  std::string op;
  double (*formula)(double);
  bool exact = false;  // Rounded once from the true value.
};

double RoundAwayFromZero(double x) { return std::copysign(std::floor(std::fabs(x) + 0.5), x); }
double RoundToEven(double x) {
  const double down = std::floor(x), rest = x - down;
  if (!std::isfinite(x)) return x;
  const double up = rest < 0.5 || (rest == 0.5 && std::fmod(down, 2) == 0) ? down : down + 1;
  return std::copysign(std::fabs(up), x);
}

TEST(UnaryRandomTest, Floats) {
  const FloatCase cases[] = {
      {"abs", [](double x) { return std::fabs(x); }, true},
      {"negate", [](double x) { return -x; }, true},
      {"sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : x; }, true},
      {"floor", [](double x) { return std::floor(x); }, true},
      {"ceil", [](double x) { return std::ceil(x); }, true},
      {"round-nearest-afz", RoundAwayFromZero, true},
      {"round-nearest-even", RoundToEven, true},
      {"sqrt", [](double x) { return std::sqrt(x); }, true},
      {"real", [](double x) { return x; }, true},
      {"imag", [](double) { return 0.0; }, true},
      {"exponential", [](double x) { return std::exp(x); }},
      {"exponential-minus-one", [](double x) { return std::expm1(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log-plus-one", [](double x) { return std::log1p(x); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"cbrt", [](double x) { return std::cbrt(x); }},
      {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"sine", [](double x) { return std::sin(x); }},
      {"cosine", [](double x) { return std::cos(x); }},
      {"tan", [](double x) { return std::tan(x); }},
      {"sinh", [](double x) { return std::sinh(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"asin", [](double x) { return std::asin(x); }},
      {"acos", [](double x) { return std::acos(x); }},
      {"asinh", [](double x) { return std::asinh(x); }},
      {"acosh", [](double x) { return std::acosh(x); }},
      {"atanh", [](double x) { return std::atanh(x); }},
      {"erf", [](double x) { return std::erf(x); }},
  };
  std::mt19937_64 random(11);
  for (const PrimitiveType type : FloatTypes()) {
    const Literal x = RandomArray(type, {kCount}, random);
    for (const FloatCase& c : cases) {
      const Literal y = Apply(c.op, type, x);
      for (int64_t i = 0; i < kCount; ++i) {
        const double relative = type == xla::F64 ? 1e-14 : 5e-7;
        ASSERT_TRUE(
            IsNear(type, BitsAt(y, i), c.formula(FloatAt(x, i)), c.exact ? 0 : 1, c.exact ? 0 : relative))
            << c.op << " of " << TypeName(type) << " " << FloatAt(x, i) << " gives " << FloatAt(y, i)
            << ", expected " << c.formula(FloatAt(x, i));
      }
    }
    const Literal finite = Apply("is-finite", xla::PRED, x);
    for (int64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(BitsAt(finite, i), std::isfinite(FloatAt(x, i))) << FloatAt(x, i);
  }
}

TEST(UnaryRandomTest, Integers) {
  struct Case {
    std::string op;
    std::function<__int128(__int128, int)> formula;
    bool only_signed = false;
  };
  const Case cases[] = {
      {"abs", [](__int128 x, int) { return x < 0 ? -x : x; }, true},
      {"sign", [](__int128 x, int) -> __int128 { return (x > 0) - (x < 0); }, true},
      {"negate", [](__int128 x, int) { return -x; }},
      {"not", [](__int128 x, int) { return -x - 1; }},
      {"popcnt",
       [](__int128 x, int bits) {
         __int128 count = 0;
         for (int b = 0; b < bits; ++b) count += (x >> b) & 1;
         return count;
       }},
      {"count-leading-zeros",
       [](__int128 x, int bits) {
         __int128 count = 0;
         for (int b = bits - 1; b >= 0 && ((x >> b) & 1) == 0; --b) ++count;
         return count;
       }},
  };
  std::mt19937_64 random(12);
  for (const PrimitiveType type : IntTypes()) {
    const Literal x = RandomArray(type, {kCount}, random);
    for (const Case& c : cases) {
      if (c.only_signed && !IsSignedInt(type)) continue;
      const Literal y = Apply(c.op, type, x);
      for (int64_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(BitsAt(y, i), BitsOfInt(type, c.formula(IntAt(x, i), static_cast<int>(BitWidth(type)))))
            << c.op << " of " << TypeName(type) << " bits " << BitsAt(x, i);
      }
    }
  }
  const Literal x = RandomArray(xla::PRED, {kCount}, random);
  const Literal y = Apply("not", xla::PRED, x);
  for (int64_t i = 0; i < kCount; ++i) ASSERT_NE(BitsAt(x, i), BitsAt(y, i));
}

TEST(UnaryRandomTest, ComplexNumbers) {
  using C = std::complex<double>;
  struct Case {
    std::string op;
    C (*formula)(C);
  };
  const Case cases[] = {
      {"negate", [](C x) { return -x; }},
      {"sign", [](C x) { return x == C(0) ? x : x / std::abs(x); }},
      {"exponential", [](C x) { return std::exp(x.real()) * C(std::cos(x.imag()), std::sin(x.imag())); }},
      {"exponential-minus-one", [](C x) { return std::exp(x) - 1.0; }},
      {"log", [](C x) { return C(std::log(std::abs(x)), std::arg(x)); }},
      {"log-plus-one", [](C x) { return std::log(1.0 + x); }},
      {"sqrt", [](C x) { return std::polar(std::sqrt(std::abs(x)), std::arg(x) / 2); }},
      {"rsqrt", [](C x) { return std::polar(1 / std::sqrt(std::abs(x)), -std::arg(x) / 2); }},
      {"logistic", [](C x) { return 1.0 / (1.0 + std::exp(-x)); }},
      {"sine", [](C x) { return (std::exp(C(0, 1) * x) - std::exp(C(0, -1) * x)) / C(0, 2); }},
      {"cosine", [](C x) { return (std::exp(C(0, 1) * x) + std::exp(C(0, -1) * x)) / 2.0; }},
      {"tan", [](C x) { return std::sin(x) / std::cos(x); }},
      {"sinh", [](C x) { return (std::exp(x) - std::exp(-x)) / 2.0; }},
      {"cosh", [](C x) { return (std::exp(x) + std::exp(-x)) / 2.0; }},
      {"tanh", [](C x) { return std::sinh(x) / std::cosh(x); }},
      {"asin", [](C x) { return std::asin(x); }},
      {"acos", [](C x) { return std::acos(x); }},
      {"asinh", [](C x) { return std::asinh(x); }},
      {"acosh", [](C x) { return std::acosh(x); }},
      {"atanh", [](C x) { return std::atanh(x); }},
  };
  std::mt19937_64 random(13);
  for (const PrimitiveType type : ComplexTypes()) {
    const Literal x = RandomArray(type, {kCount}, random, /*specials=*/false);
    const double tolerance = type == xla::C64 ? 1e-5 : 1e-12;
    for (const Case& c : cases) {
      const Literal y = Apply(c.op, type, x);
      for (int64_t i = 0; i < kCount; ++i) {
        const C expected = c.formula(ComplexAt(x, i));
        ASSERT_LE(std::abs(ComplexAt(y, i) - expected), tolerance * std::max(1.0, std::abs(expected)))
            << c.op << " of " << TypeName(type) << " " << ComplexAt(x, i) << " gives " << ComplexAt(y, i);
      }
    }
    const PrimitiveType real = type == xla::C64 ? xla::F32 : xla::F64;
    const Literal abs = Apply("abs", real, x), re = Apply("real", real, x), im = Apply("imag", real, x);
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_NEAR(FloatAt(abs, i), std::hypot(ComplexAt(x, i).real(), ComplexAt(x, i).imag()), tolerance);
      ASSERT_EQ(BitsAt(re, i), BitsAt(x, 2 * i));
      ASSERT_EQ(BitsAt(im, i), BitsAt(x, 2 * i + 1));
    }
  }
}

// Rounds to a float of E exponent and M mantissa bits, by its own rules: nearest even, no denormals, infinity
// above.
double Reduced(double x, int exponent_bits, int mantissa_bits) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent;
  const double fraction = std::frexp(std::fabs(x), &exponent);  // In [0.5, 1).
  double scaled = fraction * std::pow(2.0, mantissa_bits + 1);
  // Ties go to the even code, which without mantissa is an even biased exponent.
  if (mantissa_bits == 0 && scaled == 1.5) {
    scaled = (exponent + (1 << (exponent_bits - 1))) % 2 == 0 ? 1 : 2;
  } else {
    scaled = RoundToEven(scaled);
  }
  const double value = std::ldexp(scaled, exponent - mantissa_bits - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double least = std::pow(2.0, 1 - bias), beyond = std::pow(2.0, bias + 1);
  const double result = value >= beyond ? std::numeric_limits<double>::infinity()
                        : value < least ? 0.0
                                        : value;
  return std::copysign(result, x);
}

TEST(UnaryRandomTest, ReducePrecision) {
  std::mt19937_64 random(14);
  for (const PrimitiveType type : {xla::F64, xla::F32, xla::BF16, xla::F16, xla::F8E5M2}) {
    const Literal x = RandomArray(type, {kCount}, random);
    for (const auto& [e, m] : {std::pair{5, 10}, {8, 7}, {2, 1}, {4, 3}, {3, 0}}) {
      const Literal y =
          Apply("reduce-precision", type, x, absl::StrCat(", exponent_bits=", e, ", mantissa_bits=", m));
      for (int64_t i = 0; i < kCount; ++i) {
        const double value = FloatAt(x, i), got = FloatAt(y, i);
        if (std::isnan(value)) {
          ASSERT_TRUE(std::isnan(got));
          continue;
        }
        // Denormal values of the type itself, and formats wider than the type, round at another bit.
        if (value != 0 && std::fabs(value) < std::pow(2.0, -14)) continue;
        ASSERT_TRUE(IsNear(type, BitsAt(y, i), Reduced(value, e, m)))
            << TypeName(type) << " " << value << " to e" << e << "m" << m << " gives " << got;
      }
    }
  }
}

}  // namespace
}  // namespace toroid
