// Shared by the matrix products: the machine's vectors, the order of summation, and the targets of sums.
//
// Equal rows give equal bits only if all kernels round alike: the kernels' files are compiled with -ffp-contract=fast and for
// no processor in particular, so that g++ fuses the multiplications and additions of sums in all of them, or, below x86-64-v3,
// in none.
#pragma once

#include <cstdint>

namespace toroid::TOROID_LEVEL {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kRegisters = 32;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32, kRegisters = 16;
#else
constexpr int kVectorBytes = 16, kRegisters = 16;
#endif

// Terms per panel: each panel is summed from zero upward, then the panels one after another.
constexpr int64_t kPanel = 256;

// A matrix with any strides, in elements.
template <typename T>
struct StridedMatrix {
  T* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;

  StridedMatrix Transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

template <typename R>
struct Vector {
  typedef R Type __attribute__((vector_size(kVectorBytes)));
  typedef R Unaligned __attribute__((vector_size(kVectorBytes), aligned(sizeof(R)), may_alias));
};

// The target of a tile: the tile's first `columns` columns are added to it, or with `add` false stored.
template <typename T>
struct Target {
  T* data;
  int64_t row_stride, column_stride, columns;
  bool add;
};

template <typename T>
void Place(const Target<T>& target, int64_t row, int64_t column, T value) {
  T& place = target.data[row * target.row_stride + column * target.column_stride];
  place = target.add ? place + value : value;
}

}  // namespace toroid::TOROID_LEVEL
