// BUILD: size = "medium"
// convert between all pairs of types, bitcast-convert and stochastic-convert, on random values.
#include <cmath>
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

constexpr int64_t kCount = 256;

Literal Execute(const std::string& body, std::vector<Literal> arguments) {
  const auto module = MakeModule(body);
  absl::StatusOr<Literal> result = RunSingle(*module, arguments);
  TOROID_CHECK(result.ok(), body, ": ", result.status().ToString());
  return *std::move(result);
}

double ValueAt(const Literal& x, int64_t i) {
  const PrimitiveType type = x.shape().element_type();
  if (IsComplex(type)) return FloatAt(x, 2 * i);
  return IsFloat(type) ? FloatAt(x, i) : static_cast<double>(type == xla::PRED ? BitsAt(x, i) : IntAt(x, i));
}

// Toward zero, within the range of the type.
__int128 Saturated(PrimitiveType type, double x) {
  if (std::isnan(x)) return 0;
  const int bits = static_cast<int>(BitWidth(type));
  const __int128 low = IsSignedInt(type) ? -(static_cast<__int128>(1) << (bits - 1)) : 0;
  const __int128 high = (static_cast<__int128>(1) << (IsSignedInt(type) ? bits - 1 : bits)) - 1;
  if (x <= static_cast<double>(low)) return low;
  return x >= static_cast<double>(high) ? high : static_cast<__int128>(x);
}

// An integer as a float: exact if double holds it; large 64-bit integers are rounded to odd first.
double Wide(__int128 x) {
  const bool negative = x < 0;
  unsigned __int128 magnitude = static_cast<unsigned __int128>(negative ? -x : x);
  int dropped = 0;
  bool sticky = false;
  for (; magnitude >> 52 != 0; ++dropped) {
    sticky |= magnitude & 1;
    magnitude >>= 1;
  }
  const double value = std::ldexp(static_cast<double>(2 * magnitude + sticky), dropped - 1);
  return negative ? -value : value;
}

TEST(ConvertRandomTest, AllPairsOfTypes) {
  std::mt19937_64 random(31);
  for (const PrimitiveType from : AllTypes()) {
    const Literal x = RandomArray(from, {kCount}, random);
    for (const PrimitiveType to : AllTypes()) {
      const Literal y =
          Execute(absl::StrCat("x = ", TypedShape(from, {kCount}),
                               " parameter(0) ROOT y = ", TypedShape(to, {kCount}), " convert(x)"),
                  {x});
      for (int64_t i = 0; i < kCount; ++i) {
        const std::string where =
            absl::StrCat(TypeName(from), " ", ValueAt(x, i), " to ", TypeName(to), " gives ", ValueAt(y, i));
        const bool from_int = IsInt(from) || from == xla::PRED;
        if (to == xla::PRED) {
          const bool zero = ValueAt(x, i) == 0 && (!IsComplex(from) || FloatAt(x, 2 * i + 1) == 0);
          ASSERT_EQ(BitsAt(y, i), !zero) << where;
        } else if (IsInt(to)) {
          const __int128 expected = from == xla::PRED ? static_cast<__int128>(BitsAt(x, i))
                                    : from_int        ? IntAt(x, i)
                                                      : Saturated(to, ValueAt(x, i));
          ASSERT_EQ(BitsAt(y, i), BitsOfInt(to, expected)) << where;
        } else {
          const int parts = IsComplex(to) ? 2 : 1;
          double expected = ValueAt(x, i);
          // Going through double is right only if that rounds once; the compiler converts all other 64-bit
          // integers.
          if (from_int && BitWidth(from) == 64) {
            if (to == xla::F64 || to == xla::C128) {
              expected = IsSignedInt(from) ? static_cast<double>(static_cast<int64_t>(BitsAt(x, i)))
                                           : static_cast<double>(BitsAt(x, i));
            } else {
              expected = Wide(IntAt(x, i));
            }
          }
          ASSERT_TRUE(IsNear(to, BitsAt(y, parts * i), expected)) << where;
          if (parts == 2) {
            ASSERT_TRUE(IsNear(to, BitsAt(y, 2 * i + 1), IsComplex(from) ? FloatAt(x, 2 * i + 1) : 0))
                << where;
          }
        }
      }
    }
  }
}

TEST(BitcastConvertRandomTest, EqualWiderAndNarrowerTypes) {
  std::mt19937_64 random(32);
  for (const PrimitiveType from : AllTypes()) {
    for (const PrimitiveType to : AllTypes()) {
      if (from == xla::PRED || to == xla::PRED || IsComplex(from) != IsComplex(to)) continue;
      const int64_t a = BitWidth(from), b = BitWidth(to);
      if (std::max(a, b) % std::min(a, b) != 0) continue;
      const int64_t k = std::max(a, b) / std::min(a, b);
      Dims in = {8}, out = {8};
      if (a > b) out.push_back(k);
      if (a < b) in.push_back(k);
      const Literal x = RandomArray(from, in, random);
      const Literal y =
          Execute(absl::StrCat("x = ", TypedShape(from, in), " parameter(0) ROOT y = ", TypedShape(to, out),
                               " bitcast-convert(x)"),
                  {x});
      // Complex numbers are compared by their components, low part first.
      if (IsComplex(from)) {
        if (a == b) {
          ASSERT_EQ(BitsAt(x, 3), BitsAt(y, 3));
        } else if (a > b) {
          ASSERT_EQ(BitsAt(x, 1), BitsAt(y, 2) | BitsAt(y, 3) << 32);
        }
        continue;
      }
      const int64_t part = std::min(a, b);
      const uint64_t mask = part == 64 ? ~uint64_t{0} : (uint64_t{1} << part) - 1;
      for (int64_t i = 0; i < 8 * k; ++i) {
        const uint64_t p = a > b ? (BitsAt(x, i / k) >> (part * (i % k))) & mask : BitsAt(x, i);
        const uint64_t q = a < b ? (BitsAt(y, i / k) >> (part * (i % k))) & mask : BitsAt(y, i);
        ASSERT_EQ(p, q) << TypeName(from) << " to " << TypeName(to) << " part " << i;
      }
    }
  }
}

TEST(StochasticConvertRandomTest, TheFractionDecidesAgainstTheRandomBits) {
  std::mt19937_64 random(33);
  for (const PrimitiveType from : FloatTypes()) {
    const int bits = static_cast<int>(BitWidth(from));
    if (bits < 8 || bits == 6) continue;
    const PrimitiveType word = bits == 8 ? xla::U8 : bits == 16 ? xla::U16 : bits == 32 ? xla::U32 : xla::U64;
    const Literal x = RandomArray(from, {kCount}, random), r = RandomArray(word, {kCount}, random);
    for (const PrimitiveType to : IntTypes()) {
      const Literal y = Execute(
          absl::StrCat("x = ", TypedShape(from, {kCount}), " parameter(0) r = ", TypedShape(word, {kCount}),
                       " parameter(1) ROOT y = ", TypedShape(to, {kCount}), " stochastic-convert(x, r)"),
          {x, r});
      for (int64_t i = 0; i < kCount; ++i) {
        const double value = FloatAt(x, i), magnitude = std::fabs(value);
        double whole = std::floor(magnitude);
        const double fraction = std::isfinite(value) ? magnitude - whole : 0;
        if (static_cast<double>(BitsAt(r, i)) < fraction * std::pow(2.0, bits)) whole += 1;
        const double expected = std::isnan(value) ? value : std::copysign(whole, value);
        ASSERT_EQ(BitsAt(y, i), BitsOfInt(to, Saturated(to, expected)))
            << TypeName(from) << " " << value << " " << BitsAt(r, i);
      }
    }
  }
}

}  // namespace
}  // namespace toroid
