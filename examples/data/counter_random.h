// Random numbers that depend on the seed and on counters that name their purpose, not on earlier draws.
//
//   CounterRandom random(seed, {step, row});      // the same numbers for the same step and row
//   const int64_t i = random.Below(sentences);
//
// The stream is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) from a state that mixes the seed and the
// counters; it is the same on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "absl/strings/string_view.h"

namespace toroid {

class CounterRandom {
 public:
  CounterRandom(uint64_t seed, std::initializer_list<uint64_t> counters) : state_(Mix(seed)) {
    for (const uint64_t counter : counters) state_ = Mix(state_ ^ Mix(counter + kStep));
  }

  uint64_t Next() { return Mix(state_ += kStep); }
  // Uniform in [0, n); n > 0. The probabilities are off by less than n / 2^64.
  int64_t Below(int64_t n) {
    return static_cast<int64_t>((static_cast<unsigned __int128>(Next()) * static_cast<uint64_t>(n)) >> 64);
  }
  // Uniform in [0, 1), a multiple of 2^-53.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  static uint64_t Mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t state_;
};

// A counter made from a text: FNV-1a, 64 bits.
inline uint64_t TextCounter(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace toroid
