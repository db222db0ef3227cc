// BUILD: size = "medium"
// Ops of two and three operands on random values of every type they allow, against a formula in double or
// __int128.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/base/status.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"

namespace toroid {
namespace {

constexpr int64_t kCount = 512;

Literal Apply(const std::string& op, PrimitiveType result, std::vector<Literal> operands,
              const std::string& attributes = "") {
  std::string text, names;
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StrAppend(&text, "x", i, " = ",
                    TypedShape(operands[i].shape().element_type(), operands[i].shape().dims()), " parameter(",
                    i, ") ");
    absl::StrAppend(&names, i > 0 ? ", x" : "x", i);
  }
  const auto module = MakeModule(
      absl::StrCat(text, "ROOT y = ", TypedShape(result, {kCount}), " ", op, "(", names, ")", attributes));
  absl::StatusOr<Literal> y = RunSingle(*module, operands);
  TOROID_CHECK(y.ok(), op, ": ", y.status().ToString());
  return *std::move(y);
}

double Power(double x, double y) { return x == 1 || y == 0 ? 1 : std::pow(x, y); }
double Larger(double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : x > y ? x : y; }
double Smaller(double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : x < y ? x : y; }

TEST(BinaryRandomTest, Floats) {
  struct Case {
    std::string op;
    double (*formula)(double, double);
    bool exact = false;
  };
  const Case cases[] = {
      {"add", [](double x, double y) { return x + y; }, true},
      {"subtract", [](double x, double y) { return x - y; }, true},
      {"multiply", [](double x, double y) { return x * y; }, true},
      {"divide", [](double x, double y) { return x / y; }, true},
      {"remainder", [](double x, double y) { return std::fmod(x, y); }, true},
      {"power", Power},
      {"maximum", Larger},
      {"minimum", Smaller},
      {"atan2", [](double y, double x) { return std::atan2(y, x); }},
  };
  std::mt19937_64 random(21);
  for (const PrimitiveType type : FloatTypes()) {
    const Literal x = RandomArray(type, {kCount}, random), y = RandomArray(type, {kCount}, random);
    for (const Case& c : cases) {
      const Literal z = Apply(c.op, type, {x, y});
      for (int64_t i = 0; i < kCount; ++i) {
        double expected = c.formula(FloatAt(x, i), FloatAt(y, i));
        // Computed in f32; a result too small for this type is zero, which the type lacks.
        if (type == xla::F8E8M0FNU) expected = static_cast<float>(expected);
        const double relative = type == xla::F64 ? 1e-14 : 5e-7;
        ASSERT_TRUE(IsNear(type, BitsAt(z, i), expected, c.exact ? 0 : 1, c.exact ? 0 : relative))
            << c.op << " of " << TypeName(type) << " " << FloatAt(x, i) << " and " << FloatAt(y, i)
            << " gives " << FloatAt(z, i) << ", expected " << expected;
      }
    }
  }
}

__int128 IntPower(__int128 x, __int128 y, int bits) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  unsigned __int128 result = 1, factor = static_cast<unsigned __int128>(x);
  for (; y > 0; y /= 2) {
    if (y % 2 != 0) result *= factor;
    factor *= factor;
    if (bits == 64) continue;
    result &= (static_cast<unsigned __int128>(1) << bits) - 1;
  }
  return static_cast<__int128>(result);
}

// The product of two 64-bit numbers may need 128 bits and a sign, so it is computed by halves.
uint64_t HighHalf(PrimitiveType type, __int128 x, __int128 y) {
  const int bits = static_cast<int>(BitWidth(type));
  if (IsSignedInt(type)) return BitsOfInt(type, (x * y) >> bits);
  const unsigned __int128 product = static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y);
  return BitsOfInt(type, static_cast<__int128>(product >> bits));
}

TEST(BinaryRandomTest, Integers) {
  using Int = __int128;
  struct Case {
    std::string op;
    std::function<Int(Int x, Int y, PrimitiveType type)> formula;
  };
  const auto amount = [](Int y, PrimitiveType type) { return static_cast<Int>(BitsOfInt(type, y)); };
  const Case cases[] = {
      {"add", [](Int x, Int y, PrimitiveType) { return x + y; }},
      {"subtract", [](Int x, Int y, PrimitiveType) { return x - y; }},
      {"multiply",
       [](Int x, Int y, PrimitiveType) {
         return static_cast<Int>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
       }},
      {"divide", [](Int x, Int y, PrimitiveType) { return y == 0 ? Int{-1} : x / y; }},
      {"remainder", [](Int x, Int y, PrimitiveType) { return y == 0 ? x : x % y; }},
      {"power",
       [](Int x, Int y, PrimitiveType type) { return IntPower(x, y, static_cast<int>(BitWidth(type))); }},
      {"maximum", [](Int x, Int y, PrimitiveType) { return std::max(x, y); }},
      {"minimum", [](Int x, Int y, PrimitiveType) { return std::min(x, y); }},
      {"and", [](Int x, Int y, PrimitiveType) { return x & y; }},
      {"or", [](Int x, Int y, PrimitiveType) { return x | y; }},
      {"xor", [](Int x, Int y, PrimitiveType) { return x ^ y; }},
      {"shift-left",
       [&](Int x, Int y, PrimitiveType type) {
         return amount(y, type) >= BitWidth(type) ? 0 : x << (int)amount(y, type);
       }},
      {"shift-right-logical",
       [&](Int x, Int y, PrimitiveType type) {
         return amount(y, type) >= BitWidth(type) ? 0 : amount(x, type) >> (int)amount(y, type);
       }},
      {"shift-right-arithmetic",
       [&](Int x, Int y, PrimitiveType type) {
         const int bits = static_cast<int>(BitWidth(type));
         const Int value =
             (amount(x, type) >> (bits - 1)) & 1 ? amount(x, type) - (Int{1} << bits) : amount(x, type);
         return amount(y, type) >= bits ? (value < 0 ? -1 : 0) : value >> (int)amount(y, type);
       }},
  };
  std::mt19937_64 random(22);
  for (const PrimitiveType type : IntTypes()) {
    const Literal x = RandomArray(type, {kCount}, random);
    Literal y = RandomArray(type, {kCount}, random);
    // Half of the second operands are small, to serve as exponents and shift amounts.
    for (int64_t i = 0; i < kCount; i += 2)
      SetBits(&y, i, BitsOfInt(type, static_cast<__int128>(random() % 70)));
    for (const Case& c : cases) {
      const Literal z = Apply(c.op, type, {x, y});
      for (int64_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(BitsAt(z, i), BitsOfInt(type, c.formula(IntAt(x, i), IntAt(y, i), type)))
            << c.op << " of " << TypeName(type) << " bits " << BitsAt(x, i) << " and " << BitsAt(y, i);
      }
    }
    const Literal high = Apply("mulhi", type, {x, y});
    for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(BitsAt(high, i), HighHalf(type, IntAt(x, i), IntAt(y, i)));
  }
}

TEST(BinaryRandomTest, Booleans) {
  std::mt19937_64 random(23);
  const Literal x = RandomArray(xla::PRED, {kCount}, random), y = RandomArray(xla::PRED, {kCount}, random);
  for (const std::string op : {"add", "maximum", "or", "multiply", "minimum", "and", "xor"}) {
    const Literal z = Apply(op, xla::PRED, {x, y});
    for (int64_t i = 0; i < kCount; ++i) {
      const bool a = BitsAt(x, i), b = BitsAt(y, i);
      const bool expected = op == "add" || op == "maximum" || op == "or" ? a || b
                            : op == "xor"                                ? a != b
                                                                         : a && b;
      ASSERT_EQ(BitsAt(z, i), expected) << op;
    }
  }
}

TEST(BinaryRandomTest, ComplexNumbers) {
  using C = std::complex<double>;
  struct Case {
    std::string op;
    C (*formula)(C, C);
  };
  const Case cases[] = {
      {"add", [](C x, C y) { return C(x.real() + y.real(), x.imag() + y.imag()); }},
      {"subtract", [](C x, C y) { return C(x.real() - y.real(), x.imag() - y.imag()); }},
      {"multiply",
       [](C x, C y) {
         return C(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
       }},
      {"divide", [](C x, C y) { return x * std::conj(y) / std::norm(y); }},
      {"power", [](C x, C y) { return std::exp(y * std::log(x)); }},
      {"atan2", [](C y, C x) { return C(0, -1) * std::log((x + C(0, 1) * y) / std::sqrt(x * x + y * y)); }},
  };
  std::mt19937_64 random(24);
  for (const PrimitiveType type : ComplexTypes()) {
    const Literal x = RandomArray(type, {kCount}, random, false),
                  y = RandomArray(type, {kCount}, random, false);
    for (const Case& c : cases) {
      const Literal z = Apply(c.op, type, {x, y});
      for (int64_t i = 0; i < kCount; ++i) {
        const C expected = c.formula(ComplexAt(x, i), ComplexAt(y, i));
        // Near a branch cut rounding decides the side, and powers magnify errors of the logarithm.
        if (c.op == "atan2" && std::fabs(std::fabs(expected.real()) - M_PI) < 1e-3) continue;
        const double tolerance = (type == xla::C64 ? 2e-5 : 1e-12) * std::max(1.0, std::abs(expected));
        ASSERT_LE(std::abs(ComplexAt(z, i) - expected), tolerance)
            << c.op << " of " << ComplexAt(x, i) << " and " << ComplexAt(y, i) << " gives "
            << ComplexAt(z, i);
      }
    }
    const PrimitiveType part = type == xla::C64 ? xla::F32 : xla::F64;
    const Literal re = RandomArray(part, {kCount}, random), im = RandomArray(part, {kCount}, random);
    const Literal z = Apply("complex", type, {re, im});
    for (int64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(BitsAt(z, 2 * i), BitsAt(re, i));
      ASSERT_EQ(BitsAt(z, 2 * i + 1), BitsAt(im, i));
    }
  }
}

// The bits, sign and magnitude, as one number.
__int128 TotalOrderKey(PrimitiveType type, uint64_t bits) {
  if (type == xla::F8E8M0FNU) return bits;
  const int width = static_cast<int>(BitWidth(type));
  const uint64_t magnitude = bits & ((uint64_t{1} << (width - 1)) - 1);
  return (bits >> (width - 1)) & 1 ? -static_cast<__int128>(magnitude) - 1 : static_cast<__int128>(magnitude);
}

TEST(CompareRandomTest, EveryTypeDirectionAndOrder) {
  std::mt19937_64 random(25);
  for (const PrimitiveType type : AllTypes()) {
    Literal x = RandomArray(type, {kCount}, random), y = RandomArray(type, {kCount}, random);
    const int parts = IsComplex(type) ? 2 : 1;
    for (int64_t i = 0; i < kCount * parts / 4; ++i) SetBits(&y, i, BitsAt(x, i));
    for (const std::string direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
      if (IsComplex(type) && direction != "EQ" && direction != "NE") continue;
      for (const bool total : {false, true}) {
        if (total && !IsFloat(type)) continue;
        const Literal z = Apply("compare", xla::PRED, {x, y},
                                absl::StrCat(", direction=", direction, total ? ", type=TOTALORDER" : ""));
        for (int64_t i = 0; i < kCount; ++i) {
          bool less, equal, ordered = true;
          if (IsComplex(type)) {
            equal = ComplexAt(x, i) == ComplexAt(y, i);
            less = false;
          } else if (IsFloat(type) && !total) {
            less = FloatAt(x, i) < FloatAt(y, i);
            equal = FloatAt(x, i) == FloatAt(y, i);
            ordered = !std::isnan(FloatAt(x, i)) && !std::isnan(FloatAt(y, i));
          } else {
            const __int128 a = total               ? TotalOrderKey(type, BitsAt(x, i))
                               : type == xla::PRED ? BitsAt(x, i)
                                                   : IntAt(x, i);
            const __int128 b = total               ? TotalOrderKey(type, BitsAt(y, i))
                               : type == xla::PRED ? BitsAt(y, i)
                                                   : IntAt(y, i);
            less = a < b;
            equal = a == b;
          }
          const bool expected = direction == "EQ"   ? equal
                                : direction == "NE" ? !equal
                                : direction == "LT" ? less
                                : direction == "LE" ? less || equal
                                : direction == "GT" ? ordered && !less && !equal
                                                    : ordered && !less;
          ASSERT_EQ(BitsAt(z, i), expected) << TypeName(type) << " " << direction << (total ? " total " : " ")
                                            << BitsAt(x, i) << " " << BitsAt(y, i);
        }
      }
    }
  }
}

TEST(SelectRandomTest, EveryTypeWithArrayAndScalarPredicate) {
  std::mt19937_64 random(26);
  for (const PrimitiveType type : AllTypes()) {
    const Literal p = RandomArray(xla::PRED, {kCount}, random), q = RandomArray(xla::PRED, {}, random);
    const Literal x = RandomArray(type, {kCount}, random), y = RandomArray(type, {kCount}, random);
    const Literal by_element = Apply("select", type, {p, x, y}), by_scalar = Apply("select", type, {q, x, y});
    const int parts = IsComplex(type) ? 2 : 1;
    for (int64_t i = 0; i < kCount * parts; ++i) {
      ASSERT_EQ(BitsAt(by_element, i), BitsAt(BitsAt(p, i / parts) ? x : y, i));
      ASSERT_EQ(BitsAt(by_scalar, i), BitsAt(BitsAt(q, 0) ? x : y, i));
    }
  }
}

TEST(ClampRandomTest, EveryOrderedTypeWithArrayAndScalarBounds) {
  std::mt19937_64 random(27);
  for (const PrimitiveType type : AllTypes()) {
    if (IsComplex(type)) continue;
    const Literal x = RandomArray(type, {kCount}, random);
    for (const bool scalar : {false, true}) {
      const Dims dims = scalar ? Dims{} : Dims{kCount};
      const Literal low = RandomArray(type, dims, random), high = RandomArray(type, dims, random);
      const Literal z = Apply("clamp", type, {low, x, high});
      for (int64_t i = 0; i < kCount; ++i) {
        const int64_t j = scalar ? 0 : i;
        if (IsFloat(type)) {
          const double expected = Smaller(Larger(FloatAt(x, i), FloatAt(low, j)), FloatAt(high, j));
          ASSERT_TRUE(IsNear(type, BitsAt(z, i), expected, 1, 1e-30))
              << TypeName(type) << " " << FloatAt(low, j) << " " << FloatAt(x, i) << " " << FloatAt(high, j);
          if (!std::isnan(expected)) {
            ASSERT_EQ(FloatAt(z, i), expected);
          }
        } else if (type == xla::PRED) {
          ASSERT_EQ(BitsAt(z, i), std::min(std::max(BitsAt(x, i), BitsAt(low, j)), BitsAt(high, j)));
        } else {
          ASSERT_EQ(IntAt(z, i), std::min(std::max(IntAt(x, i), IntAt(low, j)), IntAt(high, j)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace toroid
