// Products whose left side has at most four rows, such as vector times matrix, in the summation order of
// blocked_gemm.h, so both give the same bits.
//
// Memory is read once and b is not packed. Where b is contiguous along the contracted dimension, squares of
// it are transposed in registers, so that each lane sums one element of the result.
#pragma once

#include "runtime/loops/gemm_tiles.h"

namespace toroid::TOROID_LEVEL {

constexpr int64_t kFewRows = 4;

// T: float, double. Requires: a.rows <= kFewRows, a.columns = b.rows > 0, one stride of b is 1; out is
// [a.rows, b.columns] and overlaps neither.
template <typename T>
void FewRowsGemm(const StridedMatrix<const T>& a, const StridedMatrix<const T>& b,
                 const StridedMatrix<T>& out);

}  // namespace toroid::TOROID_LEVEL
