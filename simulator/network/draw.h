// Numbers that look drawn by chance, the same ones each time.
#pragma once

#include <cstdint>

namespace toroid {

// splitmix64 at a place of its sequence.
inline uint64_t Drawn(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace toroid
