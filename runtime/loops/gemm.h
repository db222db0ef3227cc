// Matrix products of dense row-major matrices, the work behind dot and convolution.
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"

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
PrimitiveType GemmType(PrimitiveType operands, PrimitiveType result);

// Multiplies matrices of GemmType elements, on several threads. A row of the result depends on its row of lhs
// and on rhs alone: equal rows give equal bits at any position, among any number of rows, on any number of
// threads. Requires: `type` is one that GemmType returns.
void Gemm(PrimitiveType type, const GemmBatch& gemm, const void* lhs, const void* rhs, void* out);

}  // namespace toroid
