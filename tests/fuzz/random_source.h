// Random choices of the fuzzers: fast, and equal on all machines for a seed.
#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace toroid {

// SplitMix64.
class RandomSource {
 public:
  explicit RandomSource(uint64_t seed) : state_(seed) {}

  uint64_t Bits() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  // In [0, n); 0 for n <= 0.
  int64_t Below(int64_t n) { return n <= 0 ? 0 : static_cast<int64_t>(Bits() % static_cast<uint64_t>(n)); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  const T& Of(absl::Span<const T> values) {
    return values[Below(static_cast<int64_t>(values.size()))];
  }
  // Mostly small numbers, and numbers at the ends of ranges.
  int64_t Integer();

 private:
  uint64_t state_;
};

}  // namespace toroid
