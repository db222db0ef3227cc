// Units of predicted costs: bytes and picoseconds as integers, so that sums are exact and equal plans equal.
#pragma once

#include <cmath>
#include <cstdint>

namespace toroid {

using Bytes = int64_t;
using Picoseconds = int64_t;

constexpr double kPicosecondsPerSecond = 1e12;

// Rounds to the nearest picosecond; saturates. Example: 1.5e-6 s is 1,500,000 ps. `seconds` is not negative
// and not NaN.
inline Picoseconds PicosecondsOf(double seconds) {
  const double ps = std::round(seconds * kPicosecondsPerSecond);
  return ps >= 9.2e18 ? INT64_MAX : static_cast<Picoseconds>(ps);
}
inline double SecondsOf(Picoseconds ps) { return static_cast<double>(ps) / kPicosecondsPerSecond; }

}  // namespace toroid
