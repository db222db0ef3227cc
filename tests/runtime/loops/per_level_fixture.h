// What tests of loops that are compiled per level share: random elements, and the comparison of levels.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "hlo/ir/native_types.h"
#include "hlo/opcode.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/processor_level.h"
#include "tests/status_matchers.h"

namespace toroid {

inline constexpr int64_t kElements = 1500;

// Elements of an array.
struct Array {
  PrimitiveType type = xla::PRED;
  std::vector<char> bytes;

  Array() = default;
  Array(PrimitiveType type, int64_t n) : type(type), bytes(n * ByteWidth(type)) {}
  char* data() { return bytes.data(); }
  const char* data() const { return bytes.data(); }
};

template <typename T>
bool IsNan(T x) {
  if constexpr (kIsComplex<T>) {
    return IsNan(x.real()) || IsNan(x.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return x != x;
  } else if constexpr (kIsReal<T>) {
    return IsNan(static_cast<float>(x));
  } else {
    return false;
  }
}

// The first element with other bits; -1 if there is none. Of a complex number, each part is compared for itself.
inline int64_t FirstDifference(const Array& a, const Array& b) {
  const PrimitiveType part = RealTypeOf(a.type);
  return VisitArrayType(
      part,
      [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (size_t i = 0; i < a.bytes.size() / sizeof(T); ++i) {
          T x, y;
          std::memcpy(&x, a.data() + i * sizeof(T), sizeof(T));
          std::memcpy(&y, b.data() + i * sizeof(T), sizeof(T));
          if (std::memcmp(&x, &y, sizeof(T)) != 0 && !(IsNan(x) && IsNan(y))) return static_cast<int64_t>(i);
        }
        return int64_t{-1};
      },
      int64_t{-1});
}

// Results that are not a number are all the same here: which of two such operands an addition gives is the compiler's choice.
class PerLevelTest : public testing::Test {
 protected:
  ~PerLevelTest() override { EXPECT_OK(UseProcessorLevel(LevelsOfThisProcessor().back())); }

  // Runs it at every level from `least` on, and compares what it gives.
  void ExpectSame(const std::string& what, const std::function<Array()>& run,
                  ProcessorLevel least = ProcessorLevel::kV2) {
    bool first = true;
    Array expected;
    for (const ProcessorLevel level : LevelsOfThisProcessor()) {
      if (level < least) continue;
      ASSERT_OK(UseProcessorLevel(level));
      Array result = run();
      if (first) {
        expected = std::move(result);
      } else {
        EXPECT_EQ(FirstDifference(expected, result), -1) << what << " on " << NameOf(level);
      }
      first = false;
    }
  }

  // Numbers of all sizes and special ones, as elements of a type.
  Array Random(PrimitiveType type, int64_t n = kElements) {
    Array array(type, n);
    VisitArrayType(
        type,
        [&](auto tag) {
          using T = typename decltype(tag)::type;
          for (int64_t i = 0; i < n; ++i) {
            T value;
            if constexpr (kIsComplex<T>) {
              using R = typename T::value_type;
              const R real = static_cast<R>(Number());
              value = T(real, static_cast<R>(Number()));
            } else if constexpr (kIsInt<T>) {
              value = random_() % 4 == 0 ? ConvertValue<T>(static_cast<int64_t>(random_() % 9) - 4)
                                         : ConvertValue<T>(static_cast<int64_t>(random_() >> random_() % 64));
            } else {
              value = ConvertValue<T>(Number());
            }
            std::memcpy(array.data() + i * sizeof(T), &value, sizeof(T));
          }
          return 0;
        },
        0);
    return array;
  }

  // Numbers between -1 and 1.
  Array Moderate(PrimitiveType type, int64_t n) {
    Array array(type, n), doubles(xla::F64, n);
    for (int64_t i = 0; i < n; ++i) {
      const double x = std::uniform_real_distribution<double>(-1, 1)(random_);
      std::memcpy(doubles.data() + 8 * i, &x, 8);
    }
    if (IsComplex(type)) {
      const PrimitiveType part = type == xla::C64 ? xla::F32 : xla::F64;
      const Array parts = Moderate(part, 2 * n);
      array.bytes = parts.bytes;
      return array;
    }
    FindConvertLoop(xla::F64, type)(doubles.data(), array.data(), n);
    return array;
  }

  std::mt19937_64 random_{7};

 private:
  double Number() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double special[] = {0.0,  -0.0,  1,          -1,        0.5,        2.5,
                              -3.5, 1e-40, 3e38,       kInfinity, -kInfinity, 65504,
                              1e-7, -448,  2147483647, 9.3e18,    5e-324,     std::nan("")};
    switch (random_() % 4) {
      case 0:
        return special[random_() % std::size(special)];
      case 1:
        return std::ldexp(static_cast<double>(static_cast<int64_t>(random_())),
                          static_cast<int>(random_() % 80) - 103);
      default:
        return std::uniform_real_distribution<double>(-20, 20)(random_);
    }
  }
};

inline constexpr PrimitiveType kTypes[] = {
#define TOROID_TYPE(enumerator, cpp) xla::enumerator,
    TOROID_FOR_EACH_ARRAY_TYPE(TOROID_TYPE)
#undef TOROID_TYPE
};

inline constexpr Opcode kOpcodes[] = {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) Opcode::enumerator,
#include "hlo/opcode.inc"
#undef HLO_OP
};

}  // namespace toroid
