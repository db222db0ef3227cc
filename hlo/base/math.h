// Small integer arithmetic shared by every layer.
#pragma once

#include <cstdint>
#include <optional>

namespace toroid {

// ceil(a / b) for a >= 0, b > 0.
constexpr int64_t CeilOfRatio(int64_t a, int64_t b) { return (a + b - 1) / b; }

// floor(a / b) for b > 0 and any a.
constexpr int64_t FloorOfRatio(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// ceil(a / b) for b > 0 and any a.
constexpr int64_t CeilOfSignedRatio(int64_t a, int64_t b) { return -FloorOfRatio(-a, b); }

// a * b, or nullopt on overflow.
inline std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// a + b, or nullopt on overflow.
inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// a * b and a + b for a, b >= 0; INT64_MAX on overflow.
inline int64_t SaturatingMultiply(int64_t a, int64_t b) { return CheckedMultiply(a, b).value_or(INT64_MAX); }
inline int64_t SaturatingAdd(int64_t a, int64_t b) { return CheckedAdd(a, b).value_or(INT64_MAX); }

}  // namespace toroid
