// Two arrays described by strides, as a loop nest.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo/ir/shape.h"

namespace toroid {

// A loop nest over `dims`; element [i0, i1, ...] is at offset sum of i_k * stride_k, in bytes. Strides may be
// zero (a broadcast source) or negative (a reversed one).
struct StridedLoop {
  struct Dim {
    int64_t size;
    int64_t source;  // Byte strides.
    int64_t target;
  };
  absl::InlinedVector<Dim, 6> dims;  // Outermost first.
  int64_t width = 0;                 // Bytes of an element.

  void Add(int64_t size, int64_t source, int64_t target) { dims.push_back({size, source, target}); }
  // Drops dimensions of size 1 and merges neighbours that are contiguous on both sides. Keeps the loop order.
  void Simplify();
  // Simplifies, and orders dimensions so that the innermost are the target's and the source's most local
  // ones.
  void Optimize();
};

// Byte strides of a row-major array.
Dims RowMajorStrides(absl::Span<const int64_t> dims, int64_t width);

}  // namespace toroid
