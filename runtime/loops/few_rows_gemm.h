// Products with a left side of at most four rows, matrix times vector among them, in the order of summation of
// blocked_gemm.h: each element gets the same bits here and there.
//
// Memory is read once and nothing of b is packed. Where lines of b run along the contracted dimension, squares of it are
// transposed in registers, so that each lane sums up one element of the result.
#ifndef TOROID_RUNTIME_LOOPS_FEW_ROWS_GEMM_H_
#define TOROID_RUNTIME_LOOPS_FEW_ROWS_GEMM_H_

#include "runtime/loops/gemm_tiles.h"

namespace toroid {

constexpr int64_t kFewRows = 4;

// T: float, double. Requires: a.rows <= kFewRows, a.columns = b.rows > 0, one stride of b is 1, out [a.rows, b.columns]
// overlaps neither.
template <typename T>
void FewRowsGemm(const StridedMatrix<const T>& a, const StridedMatrix<const T>& b,
                 const StridedMatrix<T>& out);

}  // namespace toroid

#endif  // TOROID_RUNTIME_LOOPS_FEW_ROWS_GEMM_H_
