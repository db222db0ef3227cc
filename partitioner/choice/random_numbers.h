// A sequence of pseudorandom numbers that is the same everywhere.
//
// Source: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#pragma once

#include <cstdint>

namespace toroid {

class RandomNumbers {
 public:
  explicit RandomNumbers(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // In [0, n). Requires: 0 < n.
  int Below(int n) { return static_cast<int>(((Next() >> 32) * static_cast<uint64_t>(n)) >> 32); }

  // In [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace toroid
