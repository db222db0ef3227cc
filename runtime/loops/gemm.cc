// BUILD: per_level
// BUILD: copts = ["-ffp-contract=fast"]
#include "runtime/loops/gemm.h"

#include <algorithm>
#include <type_traits>

#include "hlo/ir/native_types.h"
#include "runtime/loops/blocked_gemm.h"
#include "runtime/loops/thread_pool.h"

namespace toroid::TOROID_LEVEL {
namespace {

constexpr int64_t kSmallFlops = 64 << 10;        // A task is worth about this many multiplications.
constexpr int64_t kTaskFlops = 8 * kSmallFlops;  // A product is cut into tasks of at least this many.
// Least rows per task of a large product, so that packing is a small part; and least columns of one that has few rows.
constexpr int64_t kTaskRows = 128, kTaskColumns = 64;
constexpr int64_t kTinyFlops = 64;  // A product with n * k up to this is not packed.

// A part of one product's result.
struct Part {
  int64_t row, rows, column, columns;
};

// Tasks are blocks of rows of one product, or of columns where rows are few. Where one ends changes no value.
struct Tasks {
  int64_t row_blocks, column_blocks, block_rows, block_columns, grain;

  explicit Tasks(const GemmBatch& g) {
    const int64_t flops = g.m * std::max<int64_t>(1, g.n * g.k);
    const auto pieces = [&](int64_t size, int64_t least, int64_t most) {
      return std::clamp<int64_t>(std::min(size / least, flops / kTaskFlops), 1, most);
    };
    row_blocks = pieces(g.m, kTaskRows, 2 * NumThreads());
    // Each packs all rows anew: no more than there are threads.
    column_blocks = row_blocks == 1 ? pieces(g.n, kTaskColumns, NumThreads()) : 1;
    block_rows = (g.m + row_blocks - 1) / row_blocks;
    block_columns = (g.n + column_blocks - 1) / column_blocks;
    // Whole lines of the cache, which two threads do not share.
    if (column_blocks > 1) block_columns = (block_columns + 15) / 16 * 16;
    grain = std::max<int64_t>(1, kSmallFlops / std::max<int64_t>(1, flops / (row_blocks * column_blocks)));
  }
  int64_t count() const { return row_blocks * column_blocks; }
  // The part of task i; nothing of it may be left.
  Part PartOf(int64_t i, const GemmBatch& g) const {
    const int64_t row = i / column_blocks * block_rows, column = i % column_blocks * block_columns;
    return {row, std::min(block_rows, g.m - row), column, std::min(block_columns, g.n - column)};
  }
};

// Integers, booleans and small products: lines of the result accumulate lines of rhs.
template <typename T>
void PlainProduct(const GemmBatch& g, const T* lhs, const T* rhs, T* out, const Part& part) {
  const int64_t from = part.column, to = part.column + part.columns;
  const int64_t lhs_m = g.lhs_order == MatrixOrder::kRowMajor ? g.k : 1;
  const int64_t lhs_k = g.lhs_order == MatrixOrder::kRowMajor ? 1 : g.m;
  for (int64_t i = part.row; i < part.row + part.rows; ++i) {
    T* line = out + i * g.n;
    std::fill(line + from, line + to, T{0});
    for (int64_t k = 0; k < g.k; ++k) {
      const T a = lhs[i * lhs_m + k * lhs_k];
      if constexpr (std::is_integral_v<T>) {
        if (a == T{0}) continue;
      }
      if (g.rhs_order == MatrixOrder::kRowMajor) {
        const T* b = rhs + k * g.n;
        if constexpr (std::is_same_v<T, bool>) {
          for (int64_t j = from; j < to; ++j) line[j] |= b[j];
        } else {
          for (int64_t j = from; j < to; ++j) line[j] += a * b[j];
        }
      } else {
        for (int64_t j = from; j < to; ++j) {
          if constexpr (std::is_same_v<T, bool>) {
            line[j] |= rhs[j * g.k + k];
          } else {
            line[j] += a * rhs[j * g.k + k];
          }
        }
      }
    }
  }
}

// A part of one product of the batch. The size of the shared matrix alone selects the method, so equal rows give equal bits.
template <typename T>
void Product(const GemmBatch& g, const T* lhs, const T* rhs, T* out, const Part& part) {
  if (g.n * g.k <= kTinyFlops) return PlainProduct(g, lhs, rhs, out, part);
  const bool lhs_rows = g.lhs_order == MatrixOrder::kRowMajor,
             rhs_rows = g.rhs_order == MatrixOrder::kRowMajor;
  BlockedGemm<T>(
      {lhs + part.row * (lhs_rows ? g.k : 1), part.rows, g.k, lhs_rows ? g.k : 1, lhs_rows ? 1 : g.m},
      {rhs + part.column * (rhs_rows ? 1 : g.k), g.k, part.columns, rhs_rows ? g.n : 1, rhs_rows ? 1 : g.k},
      {out + part.row * g.n + part.column, part.rows, part.columns, g.n, 1});
}

template <typename T, void (*kProduct)(const GemmBatch&, const T*, const T*, T*, const Part&)>
void RunBatch(const GemmBatch& g, const void* lhs_data, const void* rhs_data, void* out_data) {
  const T* lhs = static_cast<const T*>(lhs_data);
  const T* rhs = static_cast<const T*>(rhs_data);
  T* out = static_cast<T*>(out_data);
  if (g.batch == 0 || g.m == 0 || g.n == 0) return;
  if (g.k == 0) {
    std::fill(out, out + g.batch * g.m * g.n, T{});
    return;
  }
  const Tasks tasks(g);
  ParallelFor(g.batch * tasks.count(), tasks.grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t b = task / tasks.count();
      const Part part = tasks.PartOf(task % tasks.count(), g);
      if (part.rows <= 0 || part.columns <= 0) continue;
      kProduct(g, lhs + b * g.lhs_stride, rhs + b * g.rhs_stride, out + b * g.m * g.n, part);
    }
  });
}

}  // namespace

void Gemm(PrimitiveType type, const GemmBatch& gemm, const void* lhs, const void* rhs, void* out) {
  switch (type) {
    case xla::F32:
      return RunBatch<float, Product<float>>(gemm, lhs, rhs, out);
    case xla::F64:
      return RunBatch<double, Product<double>>(gemm, lhs, rhs, out);
    case xla::C64:
      return RunBatch<complex64, Product<complex64>>(gemm, lhs, rhs, out);
    case xla::C128:
      return RunBatch<complex128, Product<complex128>>(gemm, lhs, rhs, out);
    case xla::U64:
      return RunBatch<uint64_t, PlainProduct<uint64_t>>(gemm, lhs, rhs, out);
    case xla::PRED:
      return RunBatch<bool, PlainProduct<bool>>(gemm, lhs, rhs, out);
    default:
      return RunBatch<uint32_t, PlainProduct<uint32_t>>(gemm, lhs, rhs, out);
  }
}

int64_t GemmScratchBytes(PrimitiveType type, const GemmBatch& gemm) {
  const bool packs = type == xla::F32 || type == xla::F64 || IsComplex(type);
  if (!packs || gemm.n * gemm.k <= kTinyFlops || gemm.batch == 0 || gemm.m == 0) return 0;
  const Tasks tasks(gemm);
  const int64_t at_work = (gemm.batch * tasks.count() + tasks.grain - 1) / tasks.grain;
  return std::min<int64_t>(NumThreads(), at_work) *
         BlockedGemmBytes(tasks.block_rows, tasks.block_columns, gemm.k, ByteWidth(type));
}

}  // namespace toroid::TOROID_LEVEL
