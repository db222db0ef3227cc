// Matrix products of dense row-major matrices, the work behind dot and convolution.
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// Memory order of a matrix.
enum class MatrixOrder { kRowMajor, kColumnMajor };

// A batch of products out[b] = lhs[b] * rhs[b] with lhs [m, k], rhs [k, n], out [m, n] row-major.
struct GemmBatch {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  MatrixOrder lhs_order = MatrixOrder::kRowMajor;  // Column-major: stored as [k, m].
  MatrixOrder rhs_order = MatrixOrder::kRowMajor;  // Column-major: stored as [n, k].
  int64_t lhs_stride = 0, rhs_stride = 0;          // Elements between matrices of the batch; 0 shares one.
};

// The type in which products are computed: F32 for narrow floats, U32 or U64 for integers, PRED (or of ands),
// F64, C64, C128.
inline PrimitiveType GemmType(PrimitiveType operands, PrimitiveType result) {
  if (IsComplex(result)) return result;
  if (IsComplex(operands)) return operands;
  if (result == xla::F64 || operands == xla::F64) return xla::F64;
  if (IsFloat(result) || IsFloat(operands)) return xla::F32;
  if (result == xla::PRED) return xla::PRED;
  return BitWidth(result) > 32 ? xla::U64 : xla::U32;
}

// Multiplies matrices of GemmType elements, on several threads. A row of the result depends on its row of lhs
// and on rhs alone: equal rows give equal bits at any position, among any number of rows, on any number of
// threads. Requires: `type` is one that GemmType returns.
TOROID_PER_LEVEL(Gemm, void(PrimitiveType type, const GemmBatch& gemm, const void* lhs, const void* rhs,
                            void* out));

// Bytes of the memory into which the threads of Gemm pack operands.
TOROID_PER_LEVEL(GemmScratchBytes, int64_t(PrimitiveType type, const GemmBatch& gemm));

}  // namespace toroid
