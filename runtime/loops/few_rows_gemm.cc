// BUILD: per_level
// BUILD: copts = ["-ffp-contract=fast"]
#include "runtime/loops/few_rows_gemm.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace toroid::TOROID_LEVEL {
namespace {

// Adds the sums of a panel, one line of `stride` elements per row, to columns [column, column + columns) of
// the result.
template <typename T>
void PlacePanel(const T* sum, int64_t stride, int64_t column, int64_t columns, bool add,
                const StridedMatrix<T>& out) {
  const Target<T> target{out.data + column * out.column_stride, out.row_stride, out.column_stride, columns,
                         add};
  for (int64_t r = 0; r < out.rows; ++r) {
    for (int64_t j = 0; j < columns; ++j) Place(target, r, j, sum[r * stride + j]);
  }
}

// b is contiguous along its columns: a few lines at a time are added to the sums of many columns. a:
// [k][kRows].
template <typename T, int kRows>
void FewRowsTimesLines(const T* a, const StridedMatrix<const T>& b, bool later, const StridedMatrix<T>& out) {
  using V = typename Vector<T>::Type;
  using U = typename Vector<T>::Unaligned;
  constexpr int64_t kLanes = kVectorBytes / sizeof(T);
  constexpr int kLines = 8, kVectorsHeld = 64;
  V sum[kRows][kVectorsHeld];
  const int64_t n = out.columns, held = kVectorsHeld * kLanes;
  for (int64_t column = 0; column < n; column += held) {
    const int64_t columns = std::min(held, n - column), vectors = columns / kLanes, rest = columns % kLanes;
    for (int64_t first = 0; first < b.rows; first += kPanel) {
      const int64_t end = std::min(b.rows, first + kPanel);
      for (auto& row : sum) std::fill(row, row + kVectorsHeld, V{});
      const auto add = [&](auto lines, int64_t p) {
        const T* line = b.data + p * b.row_stride + column;
        const auto add_vector = [&](int64_t v, const T* from) {
          for (int l = 0; l < lines(); ++l) {
            const V x = *reinterpret_cast<const U*>(from + l * b.row_stride);
            for (int r = 0; r < kRows; ++r) sum[r][v] += a[(p + l) * kRows + r] * x;
          }
        };
        for (int64_t v = 0; v < vectors; ++v) add_vector(v, line + v * kLanes);
        if (rest == 0) return;
        for (int l = 0; l < lines(); ++l) {
          V x = {};
          for (int64_t j = 0; j < rest; ++j) x[j] = line[l * b.row_stride + vectors * kLanes + j];
          for (int r = 0; r < kRows; ++r) sum[r][vectors] += a[(p + l) * kRows + r] * x;
        }
      };
      int64_t p = first;
      for (; p + kLines <= end; p += kLines) add(std::integral_constant<int, kLines>(), p);
      for (; p < end; ++p) add(std::integral_constant<int, 1>(), p);
      PlacePanel(reinterpret_cast<const T*>(sum), held, column, columns, later || first > 0, out);
    }
  }
}

// Lane l of vector i becomes lane i of vector l.
template <typename V, int kLanes, int kDistance = 1>
void TransposeVectors(V* v) {
  if constexpr (kDistance < kLanes) {
    using Lane = std::conditional_t<sizeof(V) / kLanes == 8, int64_t, int32_t>;
    typedef Lane Mask __attribute__((vector_size(sizeof(V))));
    Mask low, high;
    for (int l = 0; l < kLanes; ++l) {
      const bool upper = (l & kDistance) != 0;
      low[l] = upper ? kLanes + l - kDistance : l;
      high[l] = upper ? kLanes + l : l + kDistance;
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      if ((i & kDistance) != 0) continue;
      const V x = v[i], y = v[i + kDistance];
      v[i] = __builtin_shuffle(x, y, low);
      v[i + kDistance] = __builtin_shuffle(x, y, high);
    }
    TransposeVectors<V, kLanes, 2 * kDistance>(v);
  }
}

// b is contiguous along the contracted dimension: one square of it at a time is transposed in registers. a:
// [k][kRows].
template <typename T, int kRows>
void FewRowsTimesColumns(const T* a, const StridedMatrix<const T>& b, bool later,
                         const StridedMatrix<T>& out) {
  using V = typename Vector<T>::Type;
  using U = typename Vector<T>::Unaligned;
  constexpr int kLanes = kVectorBytes / sizeof(T);
  const int64_t n = out.columns, k = b.rows;
  for (int64_t column = 0; column < n; column += kLanes) {
    const int64_t columns = std::min<int64_t>(kLanes, n - column);
    const T* lines[kLanes];
    // Lanes beyond the last column read the last column again; their sums are not used.
    for (int64_t l = 0; l < kLanes; ++l)
      lines[l] = b.data + (column + std::min(l, columns - 1)) * b.column_stride;
    for (int64_t first = 0; first < k; first += kPanel) {
      const int64_t end = std::min(k, first + kPanel);
      V sum[kRows] = {};
      int64_t p = first;
      for (; p + kLanes <= end; p += kLanes) {
        V square[kLanes];
#pragma GCC unroll 16
        for (int l = 0; l < kLanes; ++l) square[l] = *reinterpret_cast<const U*>(lines[l] + p);
        TransposeVectors<V, kLanes>(square);
#pragma GCC unroll 16
        for (int l = 0; l < kLanes; ++l) {
          for (int r = 0; r < kRows; ++r) sum[r] += a[(p + l) * kRows + r] * square[l];
        }
      }
      for (; p < end; ++p) {
        V x;
        for (int l = 0; l < kLanes; ++l) x[l] = lines[l][p];
        for (int r = 0; r < kRows; ++r) sum[r] += a[p * kRows + r] * x;
      }
      PlacePanel(reinterpret_cast<const T*>(sum), kLanes, column, columns, later || first > 0, out);
    }
  }
}

template <typename T, int... kRows>
void Run(const StridedMatrix<const T>& a, const StridedMatrix<const T>& b, const StridedMatrix<T>& out,
         std::integer_sequence<int, kRows...>) {
  using Kernel = void (*)(const T*, const StridedMatrix<const T>&, bool, const StridedMatrix<T>&);
  static constexpr Kernel kLines[] = {FewRowsTimesLines<T, kRows + 1>...};
  static constexpr Kernel kColumns[] = {FewRowsTimesColumns<T, kRows + 1>...};
  const Kernel kernel = (b.column_stride == 1 ? kLines : kColumns)[a.rows - 1];
  constexpr int64_t kHeld = 4 * kPanel;
  T packed[kHeld * kFewRows];
  for (int64_t first = 0; first < a.columns; first += kHeld) {
    const int64_t count = std::min(kHeld, a.columns - first);
    for (int64_t r = 0; r < a.rows; ++r) {
      const T* row = a.data + r * a.row_stride + first * a.column_stride;
      for (int64_t p = 0; p < count; ++p) packed[p * a.rows + r] = row[p * a.column_stride];
    }
    kernel(packed, {b.data + first * b.row_stride, count, b.columns, b.row_stride, b.column_stride},
           first > 0, out);
  }
}

}  // namespace

template <typename T>
void FewRowsGemm(const StridedMatrix<const T>& a, const StridedMatrix<const T>& b,
                 const StridedMatrix<T>& out) {
  Run(a, b, out, std::make_integer_sequence<int, kFewRows>());
}

template void FewRowsGemm(const StridedMatrix<const float>&, const StridedMatrix<const float>&,
                          const StridedMatrix<float>&);
template void FewRowsGemm(const StridedMatrix<const double>&, const StridedMatrix<const double>&,
                          const StridedMatrix<double>&);

}  // namespace toroid::TOROID_LEVEL
