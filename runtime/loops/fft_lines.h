// Discrete Fourier transforms along one dimension of an array [outer, n, inner], by pocketfft.
//
//   kForward: X[k] = sum over j of x[j] exp(-2 pi i j k / n);  kInverse: x[j] = sum over k of X[k] exp(2 pi i j k / n) / n
//   kRealForward: the first n/2 + 1 elements of the transform of n real numbers; kRealInverse: n real numbers from those
//
// Computed in double, whatever the type; results are rounded once. The relative error of a line, in the 2-norm, is a few times
// 2^-53 sqrt(log2 n). Lengths with a large prime factor are transformed by Bluestein's convolution, so every length takes
// O(n log n). Eight lines (at most; as many doubles as a vector has) are transformed at once; a line of at least 2^14 elements
// that is n1 * n2 is n2 transforms of n1 elements and n1 of n2 (Bailey, FFTs in external or hierarchical memory, 1990).
#pragma once

#include <cstdint>
#include <memory>

#include "hlo/ir/types.h"
#include "runtime/loops/per_level.h"

namespace toroid {

class FftLines {
 public:
  enum class Kind { kForward, kInverse, kRealForward, kRealInverse };

  virtual ~FftLines() = default;

  // Elements of a line before and after.
  virtual int64_t in_length() const = 0;
  virtual int64_t out_length() const = 0;

  // `from`, `to`: C64 or C128, or F32 or F64 on the real side. Uses several threads. `in` and `out` may be the same array if
  // types and lengths are. `work`: WorkBytes() of memory that begins at a multiple of 64; null if that is 0.
  virtual void Run(PrimitiveType from, PrimitiveType to, int64_t outer, int64_t inner, const char* in,
                   char* out, char* work) const = 0;
  virtual int64_t WorkBytes() const = 0;

  // What Run allocates besides, on this many threads.
  virtual int64_t ScratchBytes(int threads) const = 0;
};

// Makes tables of FftTableBytes. Requires n >= 1.
TOROID_PER_LEVEL(MakeFftLines, std::unique_ptr<const FftLines>(FftLines::Kind kind, int64_t n));

TOROID_PER_LEVEL(FftTableBytes, int64_t(int64_t n));

// WorkBytes and ScratchBytes of lines of n >= 1 elements.
TOROID_PER_LEVEL(FftBytes, int64_t(int64_t n, int threads));

}  // namespace toroid
