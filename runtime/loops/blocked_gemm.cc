// BUILD: per_level
// BUILD: copts = ["-ffp-contract=fast"]
#include "runtime/loops/blocked_gemm.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "hlo/ir/native_types.h"
#include "runtime/loops/few_rows_gemm.h"
#include "runtime/loops/gemm_tiles.h"

namespace toroid::TOROID_LEVEL {
namespace {

constexpr int kVectors = 2;                         // Vectors of columns in a tile.
constexpr int64_t kBlockRows = 120;                 // Rows of packed a for one pass over the tiles.
constexpr int64_t kBlockBytes = 4 * 1024 * kPanel;  // Bytes of packed b.
// A b of at most this size is read where it lies: half of the first-level cache.
constexpr int64_t kSmallBytes = 16 << 10;
// Tiles of columns up to which packing a costs more than it gains.
constexpr int64_t kFewTiles = 4;

template <typename T>
struct RealOf {
  using type = T;
  static constexpr bool kComplex = false;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using type = R;
  static constexpr bool kComplex = true;
};

// Sizes of the tile of the result that is held in registers, and of the packed operands. Complex numbers are
// packed as a line of real parts and a line of imaginary parts.
template <typename T>
struct Tiling {
  using Real = typename RealOf<T>::type;
  static constexpr bool kComplex = RealOf<T>::kComplex;
  static constexpr int kParts = kComplex ? 2 : 1;
  static constexpr int kLanes = kVectorBytes / sizeof(Real);
  static constexpr int kColumns = kVectors * kLanes;
  static constexpr int kRows = (kRegisters == 32 ? 12 : 6) / kParts;
  static constexpr int64_t kBlockColumns =
      kBlockBytes / (kPanel * kParts * sizeof(Real)) / kColumns * kColumns;
};

// How the rows of a lie: the elements of a column side by side, columns `step` apart, or those of a row, rows `step` apart.
enum class Lie { kColumns, kRows };

// kRows rows of a times a panel of b, [k] lines of kUsed vectors `b_stride` apart.
template <typename T, int kRows, int kUsed, Lie kLie>
void RealTile(int64_t k, const T* a, int64_t a_step, const T* b, int64_t b_stride, const Target<T>& target) {
  using V = typename Vector<T>::Type;
  using U = typename Vector<T>::Unaligned;
  constexpr int kLanes = Tiling<T>::kLanes;
  V sum[kRows][kUsed] = {};
  for (int64_t p = 0; p < k; ++p) {
    V line[kUsed];
    for (int v = 0; v < kUsed; ++v) line[v] = *reinterpret_cast<const U*>(b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (int v = 0; v < kUsed; ++v) sum[r][v] += a[kLie == Lie::kColumns ? r : r * a_step] * line[v];
    }
    a += kLie == Lie::kColumns ? a_step : 1;
    b += b_stride;
  }
  if (target.column_stride == 1 && target.columns == kUsed * kLanes) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (int v = 0; v < kUsed; ++v) {
        U* place = reinterpret_cast<U*>(target.data + r * target.row_stride + v * kLanes);
        *place = target.add ? *place + sum[r][v] : sum[r][v];
      }
    }
    return;
  }
  for (int r = 0; r < kRows; ++r) {
    for (int64_t j = 0; j < target.columns; ++j) Place(target, r, j, sum[r][j / kLanes][j % kLanes]);
  }
}

// The same for complex numbers: a [k][2][kRows], b [k][2][kColumns].
template <typename T, int kRows, int kUsed>
void ComplexTile(int64_t k, const typename Tiling<T>::Real* a, const typename Tiling<T>::Real* b,
                 const Target<T>& target) {
  using R = typename Tiling<T>::Real;
  using V = typename Vector<R>::Type;
  using U = typename Vector<R>::Unaligned;
  constexpr int kLanes = Tiling<T>::kLanes;
  V real[kRows][kUsed] = {}, imag[kRows][kUsed] = {};
  for (int64_t p = 0; p < k; ++p) {
    V x[kUsed], y[kUsed];
    for (int v = 0; v < kUsed; ++v) {
      x[v] = *reinterpret_cast<const U*>(b + v * kLanes);
      y[v] = *reinterpret_cast<const U*>(b + (kVectors + v) * kLanes);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (int v = 0; v < kUsed; ++v) {
        real[r][v] += a[r] * x[v];
        real[r][v] -= a[kRows + r] * y[v];
        imag[r][v] += a[r] * y[v];
        imag[r][v] += a[kRows + r] * x[v];
      }
    }
    a += 2 * kRows;
    b += 2 * kVectors * kLanes;
  }
  for (int r = 0; r < kRows; ++r) {
    for (int64_t j = 0; j < target.columns; ++j) {
      Place(target, r, j, T(real[r][j / kLanes][j % kLanes], imag[r][j / kLanes][j % kLanes]));
    }
  }
}

template <typename T>
using Tile = void (*)(int64_t k, const typename Tiling<T>::Real* a, int64_t a_step,
                      const typename Tiling<T>::Real* b, int64_t b_stride, const Target<T>& target);

// A tile whose columns fit one vector computes one vector per row.
template <typename T, Lie kLie, int kRows>
void RunTile(int64_t k, const typename Tiling<T>::Real* a, int64_t a_step, const typename Tiling<T>::Real* b,
             int64_t b_stride, const Target<T>& target) {
  const bool narrow = target.columns <= Tiling<T>::kLanes;
  if constexpr (Tiling<T>::kComplex) {
    narrow ? ComplexTile<T, kRows, 1>(k, a, b, target) : ComplexTile<T, kRows, kVectors>(k, a, b, target);
  } else {
    narrow ? RealTile<T, kRows, 1, kLie>(k, a, a_step, b, b_stride, target)
           : RealTile<T, kRows, kVectors, kLie>(k, a, a_step, b, b_stride, target);
  }
}

// The tile function for 1, 2, .., Tiling<T>::kRows rows.
template <typename T, Lie kLie, int... kRows>
Tile<T> FindTile(int64_t rows, std::integer_sequence<int, kRows...>) {
  static constexpr Tile<T> kTiles[] = {RunTile<T, kLie, kRows + 1>...};
  return kTiles[rows - 1];
}
template <typename T>
Tile<T> FindTile(int64_t rows, Lie lie) {
  constexpr auto kHeights = std::make_integer_sequence<int, Tiling<T>::kRows>();
  if constexpr (!Tiling<T>::kComplex) {
    if (lie == Lie::kRows) return FindTile<T, Lie::kRows>(rows, kHeights);
  }
  return FindTile<T, Lie::kColumns>(rows, kHeights);
}

// Transposes a square block with as many lines as a vector of 16 bytes has lanes.
template <typename T>
void TransposeBlock(const T* in, int64_t in_stride, T* out, int64_t out_stride) {
  typedef T V __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
  const auto load = [&](int64_t i) { return *reinterpret_cast<const V*>(in + i * in_stride); };
  const auto store = [&](int64_t i, V value) { *reinterpret_cast<V*>(out + i * out_stride) = value; };
  if constexpr (sizeof(T) == 8) {
    typedef int64_t Mask __attribute__((vector_size(16)));
    const V a = load(0), b = load(1);
    store(0, __builtin_shuffle(a, b, Mask{0, 2}));
    store(1, __builtin_shuffle(a, b, Mask{1, 3}));
  } else {
    typedef int32_t Mask __attribute__((vector_size(16)));
    const V a = load(0), b = load(1), c = load(2), d = load(3);
    const V ab = __builtin_shuffle(a, b, Mask{0, 4, 1, 5}), cd = __builtin_shuffle(c, d, Mask{0, 4, 1, 5}),
            ab2 = __builtin_shuffle(a, b, Mask{2, 6, 3, 7}), cd2 = __builtin_shuffle(c, d, Mask{2, 6, 3, 7});
    store(0, __builtin_shuffle(ab, cd, Mask{0, 1, 4, 5}));
    store(1, __builtin_shuffle(ab, cd, Mask{2, 3, 6, 7}));
    store(2, __builtin_shuffle(ab2, cd2, Mask{0, 1, 4, 5}));
    store(3, __builtin_shuffle(ab2, cd2, Mask{2, 3, 6, 7}));
  }
}

// Copies lines [valid][count], `stride` apart, as [count][width].
template <typename T>
void PackTransposed(const T* data, int64_t stride, int64_t valid, int64_t width, int64_t count, T* out) {
  constexpr int64_t kBlock = 16 / sizeof(T);
  const int64_t blocks = valid / kBlock * kBlock, whole = count / kBlock * kBlock;
  for (int64_t i = 0; i < blocks; i += kBlock) {
    for (int64_t p = 0; p < whole; p += kBlock) {
      TransposeBlock(data + i * stride + p, stride, out + p * width + i, width);
    }
  }
  for (int64_t i = 0; i < valid; ++i) {
    for (int64_t p = i < blocks ? whole : 0; p < count; ++p) out[p * width + i] = data[i * stride + p];
  }
}

// For so few elements a call of memmove takes longer.
template <typename T>
void CopyFew(const T* from, int64_t n, T* to) {
  using U = typename Vector<T>::Unaligned;
  typedef T Quarter __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
  constexpr int64_t kLanes = kVectorBytes / sizeof(T), kFew = 16 / sizeof(T);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) *reinterpret_cast<U*>(to + i) = *reinterpret_cast<const U*>(from + i);
  for (; i + kFew <= n; i += kFew)
    *reinterpret_cast<Quarter*>(to + i) = *reinterpret_cast<const Quarter*>(from + i);
  for (; i < n; ++i) to[i] = from[i];
}

// Packs rows [row, row + width) and columns [k, k + count) as [count][width], zeros beyond the last row;
// complex numbers as [count][2][width].
template <typename T>
void PackLines(const StridedMatrix<const T>& matrix, int64_t row, int64_t valid, int64_t width, int64_t k,
               int64_t count, typename Tiling<T>::Real* out) {
  const T* data = matrix.data + row * matrix.row_stride + k * matrix.column_stride;
  if constexpr (Tiling<T>::kComplex) {
    if (valid < width) std::fill(out, out + 2 * width * count, 0);
    for (int64_t i = 0; i < valid; ++i) {
      for (int64_t p = 0; p < count; ++p) {
        const T value = data[i * matrix.row_stride + p * matrix.column_stride];
        out[2 * p * width + i] = value.real();
        out[(2 * p + 1) * width + i] = value.imag();
      }
    }
  } else if (matrix.row_stride == 1) {
    for (int64_t p = 0; p < count; ++p) {
      T* line = out + p * width;
      const T* source = data + p * matrix.column_stride;
      CopyFew(source, valid, line);
      for (int64_t i = valid; i < width; ++i) line[i] = 0;
    }
  } else {
    if (valid < width) std::fill(out, out + width * count, T(0));
    if (matrix.column_stride == 1) return PackTransposed(data, matrix.row_stride, valid, width, count, out);
    for (int64_t i = 0; i < valid; ++i) {
      for (int64_t p = 0; p < count; ++p) {
        out[p * width + i] = data[i * matrix.row_stride + p * matrix.column_stride];
      }
    }
  }
}

// Scratch memory of the calling thread, aligned for vectors.
template <typename R>
R* Scratch(int which, int64_t size) {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  static thread_local std::array<std::pair<std::unique_ptr<void, Free>, int64_t>, 2> scratch;
  auto& [memory, bytes] = scratch[which];
  const int64_t needed = (size * static_cast<int64_t>(sizeof(R)) + 4095) / 4096 * 4096;
  if (bytes < needed) {
    memory.reset(std::aligned_alloc(64, needed));
    if (memory == nullptr) throw std::bad_alloc();
    bytes = needed;
  }
  return static_cast<R*>(memory.get());
}

template <typename T>
void TransposeIfNarrow(StridedMatrix<const T>* a, StridedMatrix<const T>* b, StridedMatrix<T>* out) {
  const int64_t m = a->rows, n = b->columns;
  constexpr int64_t kLanes = Tiling<T>::kLanes;
  constexpr int64_t kWide = 64 / sizeof(typename Tiling<T>::Real);  // The same on all levels.
  const auto work = [&](int64_t rows, int64_t columns) {
    return rows * ((columns + kLanes - 1) / kLanes * kLanes);
  };
  // Each part of a complex product is a sum of two terms; swapping a and b swaps the terms, which changes the
  // bits. Equal rows must give equal bits among any number of rows, so for complex numbers only n decides.
  if (Tiling<T>::kComplex ? n >= kWide : work(m, n) <= work(n, m)) return;
  const StridedMatrix<const T> left = b->Transposed();
  *b = a->Transposed();
  *a = left;
  *out = out->Transposed();
}

}  // namespace

template <typename T>
void BlockedGemm(StridedMatrix<const T> a, StridedMatrix<const T> b, StridedMatrix<T> out) {
  using Tiles = Tiling<T>;
  using R = typename Tiles::Real;
  constexpr int64_t kColumns = Tiles::kColumns, kRows = Tiles::kRows, kParts = Tiles::kParts;
  TransposeIfNarrow(&a, &b, &out);
  const int64_t m = out.rows, n = out.columns, k = a.columns;
  if constexpr (!Tiles::kComplex) {
    if (m <= kFewRows && (b.column_stride == 1 || b.row_stride == 1)) return FewRowsGemm(a, b, out);
  }
  // With few rows, or if it is small, the tiles read b where it lies; and a if few tiles read it.
  const bool small_b = n * k * static_cast<int64_t>(sizeof(T)) <= kSmallBytes;
  const bool pack_b = Tiles::kComplex || b.column_stride != 1 || (m > 2 * kRows && !small_b);
  const bool pack_a =
      Tiles::kComplex || (a.column_stride != 1 && a.row_stride != 1) || n > kFewTiles * kColumns;
  const Lie lie = pack_a || a.row_stride == 1 ? Lie::kColumns : Lie::kRows;
  const int64_t panel = std::min(k, kPanel), block_columns = std::min(n, Tiles::kBlockColumns),
                padded_columns = (block_columns + kColumns - 1) / kColumns * kColumns,
                block_rows = std::min(m, kBlockRows);
  R* const packed_a = Scratch<R>(0, pack_a ? panel * block_rows * kParts : 0);
  R* const packed_b = Scratch<R>(1, panel * (pack_b ? padded_columns : kColumns) * kParts);
  const auto pack_columns = [&](int64_t column, int64_t first, int64_t count, R* to) {
    PackLines(b.Transposed(), column, std::min(kColumns, n - column), kColumns, first, count, to);
  };
  for (int64_t column = 0; column < n; column += block_columns) {
    const int64_t columns = std::min(block_columns, n - column);
    for (int64_t first = 0; first < k; first += kPanel) {
      const int64_t count = std::min(kPanel, k - first), tile_size = count * kColumns * kParts;
      for (int64_t j = 0; pack_b && j < columns; j += kColumns) {
        pack_columns(column + j, first, count, packed_b + j / kColumns * tile_size);
      }
      for (int64_t row = 0; row < m; row += block_rows) {
        const int64_t rows = std::min(block_rows, m - row);
        for (int64_t i = 0; pack_a && i < rows; i += kRows) {
          const int64_t height = std::min(kRows, rows - i);
          PackLines(a, row + i, height, height, first, count, packed_a + i * count * kParts);
        }
        for (int64_t j = 0; j < columns; j += kColumns) {
          const R* tile_b = packed_b + j / kColumns * tile_size;
          int64_t b_stride = kColumns;
          const int64_t width = std::min(kColumns, columns - j);
          if (!pack_b && (width == kColumns || width == Tiles::kLanes)) {
            tile_b = reinterpret_cast<const R*>(b.data + first * b.row_stride + column + j);
            b_stride = b.row_stride;
          } else if (!pack_b) {
            pack_columns(column + j, first, count, packed_b);
            tile_b = packed_b;
          }
          for (int64_t i = 0; i < rows; i += kRows) {
            const int64_t height = std::min(kRows, rows - i);
            const Target<T> target{out.data + (row + i) * out.row_stride + (column + j) * out.column_stride,
                                   out.row_stride, out.column_stride, width, first > 0};
            const R* tile_a = packed_a + i * count * kParts;
            int64_t a_step = height;
            if (!pack_a) {
              tile_a =
                  reinterpret_cast<const R*>(a.data + (row + i) * a.row_stride + first * a.column_stride);
              a_step = lie == Lie::kRows ? a.row_stride : a.column_stride;
            }
            FindTile<T>(height, lie)(count, tile_a, a_step, tile_b, b_stride, target);
          }
        }
      }
    }
  }
}

int64_t BlockedGemmBytes(int64_t m, int64_t n, int64_t k, int64_t width) {
  const int64_t panel = std::min(k, kPanel), columns = std::min(n, kBlockBytes / (kPanel * width));
  return panel * (columns + std::min(m, kBlockRows)) * width;
}

template void BlockedGemm(StridedMatrix<const float>, StridedMatrix<const float>, StridedMatrix<float>);
template void BlockedGemm(StridedMatrix<const double>, StridedMatrix<const double>, StridedMatrix<double>);
template void BlockedGemm(StridedMatrix<const complex64>, StridedMatrix<const complex64>,
                          StridedMatrix<complex64>);
template void BlockedGemm(StridedMatrix<const complex128>, StridedMatrix<const complex128>,
                          StridedMatrix<complex128>);

}  // namespace toroid::TOROID_LEVEL
