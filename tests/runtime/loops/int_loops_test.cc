// BUILD: size = "small"
#include "runtime/loops/int_loops.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/scalar_ops.h"

namespace toroid {
namespace {

// Divisions by one divisor for all go by its inverse.
template <typename T>
void ExpectDivisions(PrimitiveType type) {
  std::mt19937_64 random(3);
  constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  std::vector<T> divisors = {0,
                             1,
                             2,
                             3,
                             5,
                             7,
                             10,
                             641,
                             65535,
                             65537,
                             kLeast,
                             kMost,
                             kMost - 1,
                             static_cast<T>(-1),
                             static_cast<T>(-3),
                             static_cast<T>(kLeast + 1)};
  for (int i = 0; i < 300; ++i) divisors.push_back(static_cast<T>(random() >> (32 + random() % 32)));
  for (const T b : divisors) {
    std::vector<T> a = {0, 1, kLeast, kMost, b, static_cast<T>(b - 1), static_cast<T>(b + 1)};
    while (a.size() < 130) {
      const T multiple = static_cast<T>(static_cast<uint32_t>(b) * static_cast<uint32_t>(random() % 70000));
      a.push_back(static_cast<T>(static_cast<uint32_t>(multiple) + static_cast<uint32_t>(random() % 3) - 1));
      a.push_back(static_cast<T>(random()));
    }
    const auto n = static_cast<int64_t>(a.size());
    std::vector<T> quotient(n), rest(n);
    FindIntLoop(Opcode::kDivide, type)(a.data(), &b, quotient.data(), n, Repeat::kSecond);
    FindIntLoop(Opcode::kRemainder, type)(a.data(), &b, rest.data(), n, Repeat::kSecond);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(quotient[i], IntOps<T>::Divide(a[i], b)) << a[i] << " / " << b;
      ASSERT_EQ(rest[i], IntOps<T>::Remainder(a[i], b)) << a[i] << " % " << b;
    }
  }
}

TEST(IntLoopsTest, DivisionsByOneDivisorAreThoseOfSingleNumbers) {
  ExpectDivisions<int32_t>(xla::S32);
  ExpectDivisions<uint32_t>(xla::U32);
}

template <typename T>
void ExpectCounts(PrimitiveType type) {
  constexpr int64_t n = 40, kBeyond = int64_t{1} << 31;
  for (const int64_t first : {int64_t{0}, int64_t{-5}, kBeyond - 20, -kBeyond - 20, kBeyond * 1000}) {
    for (const int64_t step : {int64_t{0}, int64_t{1}, int64_t{-3}, kBeyond / 20, kBeyond + 1}) {
      std::vector<T> found(n);
      FindCountLoop(type)(first, step, n, found.data());
      for (int64_t i = 0; i < n; ++i) {
        const T expected = ConvertValue<T>(first + i * step);
        ASSERT_EQ(found[i], expected) << first << " + " << i << " * " << step;
      }
    }
  }
}

TEST(IntLoopsTest, CountsAreThoseOf64Bits) {
  ExpectCounts<int8_t>(xla::S8);
  ExpectCounts<uint32_t>(xla::U32);
  ExpectCounts<int32_t>(xla::S32);
  ExpectCounts<int64_t>(xla::S64);
  ExpectCounts<uint64_t>(xla::U64);
  ExpectCounts<float>(xla::F32);
  ExpectCounts<double>(xla::F64);
}

template <typename To>
void ExpectSaturation(PrimitiveType type) {
  constexpr double kLow = std::numeric_limits<To>::min(), kHigh = std::numeric_limits<To>::max();
  std::vector<float> x = {0.0f,
                          -0.0f,
                          0.9f,
                          -0.9f,
                          -1.0f,
                          1e30f,
                          -1e30f,
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  for (const double end : {kLow, kHigh}) {
    for (int i = -40; i <= 40; ++i) {
      x.push_back(static_cast<float>(end + i * 0.125));
      x.push_back(static_cast<float>(end * (1 + i * 1e-7)));
    }
  }
  std::vector<To> found(x.size());
  FindConvertLoop(xla::F32, type)(x.data(), found.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const double whole = std::trunc(static_cast<double>(x[i]));
    const To expected = std::isnan(x[i]) ? To{0}
                        : whole <= kLow  ? std::numeric_limits<To>::min()
                        : whole >= kHigh ? std::numeric_limits<To>::max()
                                         : static_cast<To>(whole);
    EXPECT_EQ(static_cast<double>(found[i]), static_cast<double>(expected)) << x[i];
  }
}

TEST(IntLoopsTest, ConversionsOfFloatsSaturate) {
  ExpectSaturation<int8_t>(xla::S8);
  ExpectSaturation<uint8_t>(xla::U8);
  ExpectSaturation<int16_t>(xla::S16);
  ExpectSaturation<uint16_t>(xla::U16);
  ExpectSaturation<int32_t>(xla::S32);
  ExpectSaturation<uint32_t>(xla::U32);
}

}  // namespace
}  // namespace toroid
