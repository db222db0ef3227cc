// Folds arrays by one associative and commutative op, for reduce and the reductions of other kernels.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "hlo/ir/types.h"
#include "hlo/opcode.h"
#include "runtime/loops/loop_of_two.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// One op over elements of one type.
struct LineReduction {
  // *out = op over the n >= 1 elements at x. Sums are taken in lanes and fixed chunks, so they are as
  // accurate as pairwise sums and do not depend on the number of threads.
  void (*along)(const void* x, int64_t n, void* out) = nullptr;
  // out[k] = op(out[k], x[0, k], x[1, k], ...) for k < n, in this order; lines are `stride` bytes apart.
  void (*across)(const void* x, int64_t lines, int64_t stride, int64_t n, void* out) = nullptr;
};

// Null members if the op does not reduce the type; narrow floats are not supported (see ComputeType).
TOROID_PER_LEVEL(FindLineReduction, LineReduction(Opcode opcode, PrimitiveType type));

// A dense array's dimensions, outermost first, each kept or reduced.
struct ReduceNest {
  struct Dim {
    int64_t size;
    bool kept;
  };
  absl::InlinedVector<Dim, 6> dims;

  // Merges with the dimension before it if both are kept or both reduced.
  void Add(int64_t size, bool kept) {
    if (size == 1) return;
    if (!dims.empty() && dims.back().kept == kept) {
      dims.back().size *= size;
    } else {
      dims.push_back({size, kept});
    }
  }
};

// out[kept] = op(out[kept], x[kept, reduced] over all reduced). Uses several threads.
TOROID_PER_LEVEL(ReduceInto, void(const ReduceNest& nest, LineReduction line, BinaryLoop loop, int64_t width,
                                  const char* x, char* out));

}  // namespace toroid
