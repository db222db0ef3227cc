// What the matrix products share: vectors of the machine, the order of summation, where sums go.
//
// Equal rows give equal bits only if each kernel rounds alike. On some processors (Zen) g++ leaves multiplications and additions of
// long sums apart, in one kernel and not in another; --param=avoid-fma-max-bits=0, in the files of the kernels, has them fused in all.
#ifndef TOROID_RUNTIME_LOOPS_GEMM_TILES_H_
#define TOROID_RUNTIME_LOOPS_GEMM_TILES_H_

#include <cstdint>

namespace toroid {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kRegisters = 32;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32, kRegisters = 16;
#else
constexpr int kVectorBytes = 16, kRegisters = 16;
#endif

// Of the contracted dimension: each panel is summed from zero upward, then the panels one after another.
constexpr int64_t kPanel = 256;

// A matrix of any strides, in elements.
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

// Where a tile goes: its first `columns` columns, added to what is there but for the first panel.
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

}  // namespace toroid

#endif  // TOROID_RUNTIME_LOOPS_GEMM_TILES_H_
