#include "tests/fuzz/random_source.h"

#include <limits>

namespace toroid {

int64_t RandomSource::Integer() {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kEnds[] = {-1,
                                      kMin,
                                      kMax,
                                      kMin + 1,
                                      kMax - 1,
                                      int64_t{1} << 31,
                                      (int64_t{1} << 31) - 1,
                                      -(1LL << 31),
                                      int64_t{1} << 32,
                                      int64_t{1} << 62,
                                      65535,
                                      65536,
                                      255,
                                      256,
                                      1 << 20,
                                      1000000007,
                                      127,
                                      128,
                                      -128,
                                      64};
  if (OneIn(3)) return Of<int64_t>(kEnds);
  return OneIn(8) ? -Below(5) : Below(OneIn(4) ? 40 : 9);
}

}  // namespace toroid
