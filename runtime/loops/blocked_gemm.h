// The product of two dense matrices, out[i, j] = sum over k of a[i, k] * b[k, j]. Equal rows (and equal
// columns) give equal bits, whatever their position.
//
// Every element is summed in one order, whatever the sizes, the strides, the alignment and the element's
// position: each panel of 256 consecutive k from zero upward, then the panels one after another. Tiles at the
// edges are filled up with zeros, so each lane of the vector unit does the same arithmetic. (Eigen's products
// are as fast, but round the last rows and columns differently from the others.)
//
// Source: Goto, van de Geijn, Anatomy of High-Performance Matrix Multiplication, TOMS 2008.
#pragma once

#include <cstdint>

#include "runtime/loops/gemm_tiles.h"

namespace toroid::TOROID_LEVEL {

// T: float, double, complex64, complex128. Requires: a.columns = b.rows > 0; out is [a.rows, b.columns] and
// overlaps neither. Keeps 1.5 MB of scratch memory per calling thread.
template <typename T>
void BlockedGemm(StridedMatrix<const T> a, StridedMatrix<const T> b, StridedMatrix<T> out);

// Bytes of that scratch memory which a product of these sizes writes.
int64_t BlockedGemmBytes(int64_t m, int64_t n, int64_t k, int64_t width);

}  // namespace toroid::TOROID_LEVEL
