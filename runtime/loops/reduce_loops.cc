// BUILD: per_level
#include "runtime/loops/reduce_loops.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/thread_pool.h"

namespace toroid::TOROID_LEVEL {
namespace {

constexpr int64_t kChunk = 4096;           // Elements summed in lanes before the partial sums are combined.
constexpr int64_t kBlockBytes = 64 << 10;  // Accumulators that fit in the second-level cache.
constexpr int64_t kGrainBytes = 128 << 10;
constexpr int64_t kNarrowestBytes = 4 << 10;  // Least bytes of columns for a thread.

// Combines 2 * kHalf lanes into the first; each step is a vector of its own size.
template <typename T, T (*kOp)(T, T), int kHalf>
T CombineLanes(T* lanes) {
  for (int j = 0; j < kHalf; ++j) lanes[j] = kOp(lanes[j], lanes[j + kHalf]);
  if constexpr (kHalf > 1) return CombineLanes<T, kOp, kHalf / 2>(lanes);
  return lanes[0];
}

// An op's first operand is what it tests for NaN: the element, so that lanes need not wait for the test.
template <typename T, T (*kOp)(T, T)>
T ReduceChunk(const T* x, int64_t n) {
  constexpr int kLanes = sizeof(T) >= 8 ? 16 : sizeof(T) >= 4 ? 32 : 64;
  if (n < kLanes) {
    T total = x[0];
    for (int64_t i = 1; i < n; ++i) total = kOp(x[i], total);
    return total;
  }
  T lanes[kLanes];
  for (int j = 0; j < kLanes; ++j) lanes[j] = x[j];
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = kOp(x[i + j], lanes[j]);
  }
  for (int j = 0; i + j < n; ++j) lanes[j] = kOp(x[i + j], lanes[j]);
  return CombineLanes<T, kOp, kLanes / 2>(lanes);
}

template <typename T, T (*kOp)(T, T)>
void ReduceLine(const void* data, int64_t n, void* out) {
  const T* x = static_cast<const T*>(data);
  T total = ReduceChunk<T, kOp>(x, std::min(n, kChunk));
  for (int64_t i = kChunk; i < n; i += kChunk) {
    total = kOp(total, ReduceChunk<T, kOp>(x + i, std::min(n - i, kChunk)));
  }
  *static_cast<T*>(out) = total;
}

// Eight lines at once, so that the accumulators are read and written once per eight lines.
template <typename T, T (*kOp)(T, T)>
void ReduceAcross(const void* data, int64_t lines, int64_t stride, int64_t n, void* out) {
  constexpr int kLines = 8;
  const char* x = static_cast<const char*>(data);
  T* __restrict sum = static_cast<T*>(out);
  int64_t r = 0;
  for (; r + kLines <= lines; r += kLines, x += kLines * stride) {
    const T* line[kLines];
    for (int i = 0; i < kLines; ++i) line[i] = reinterpret_cast<const T*>(x + i * stride);
    for (int64_t k = 0; k < n; ++k) {
      T value = sum[k];
      for (int i = 0; i < kLines; ++i) value = kOp(value, line[i][k]);
      sum[k] = value;
    }
  }
  for (; r < lines; ++r, x += stride) {
    const T* line = reinterpret_cast<const T*>(x);
    for (int64_t k = 0; k < n; ++k) sum[k] = kOp(sum[k], line[k]);
  }
}

template <typename T, T (*kOp)(T, T)>
constexpr LineReduction kReduction = {ReduceLine<T, kOp>, ReduceAcross<T, kOp>};

bool Or(bool a, bool b) { return a | b; }
bool And(bool a, bool b) { return a & b; }
bool Xor(bool a, bool b) { return a != b; }

template <typename T>
LineReduction Find(Opcode opcode) {
  if constexpr (kIsPred<T>) {
    switch (opcode) {
      case Opcode::kAdd:
      case Opcode::kMaximum:
      case Opcode::kOr:
        return kReduction<bool, Or>;
      case Opcode::kMultiply:
      case Opcode::kMinimum:
      case Opcode::kAnd:
        return kReduction<bool, And>;
      case Opcode::kXor:
        return kReduction<bool, Xor>;
      default:
        return {};
    }
  } else if constexpr (kIsInt<T>) {
    using Ops = IntOps<T>;
    switch (opcode) {
      case Opcode::kAdd:
        return kReduction<T, Ops::Add>;
      case Opcode::kMultiply:
        return kReduction<T, Ops::Multiply>;
      case Opcode::kMaximum:
        return kReduction<T, Ops::Maximum>;
      case Opcode::kMinimum:
        return kReduction<T, Ops::Minimum>;
      case Opcode::kAnd:
        return kReduction<T, Ops::And>;
      case Opcode::kOr:
        return kReduction<T, Ops::Or>;
      case Opcode::kXor:
        return kReduction<T, Ops::Xor>;
      default:
        return {};
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    using Ops = FloatOps<T>;
    switch (opcode) {
      case Opcode::kAdd:
        return kReduction<T, Ops::Add>;
      case Opcode::kMultiply:
        return kReduction<T, Ops::Multiply>;
      case Opcode::kMaximum:
        return kReduction<T, Ops::Maximum>;
      case Opcode::kMinimum:
        return kReduction<T, Ops::Minimum>;
      default:
        return {};
    }
  } else if constexpr (IsComplexType<T>::value) {
    using Ops = ComplexOps<typename T::value_type>;
    switch (opcode) {
      case Opcode::kAdd:
        return kReduction<T, Ops::Add>;
      case Opcode::kMultiply:
        return kReduction<T, Ops::Multiply>;
      default:
        return {};
    }
  } else {
    return {};
  }
}

struct Folder {
  LineReduction line;
  BinaryLoop loop;
  int64_t width;

  using Dims = absl::Span<const ReduceNest::Dim>;

  int64_t Elements(Dims dims, bool kept_only) const {
    int64_t n = 1;
    for (const auto& dim : dims) n *= kept_only && !dim.kept ? 1 : dim.size;
    return n;
  }

  void FoldLine(const char* x, int64_t n, char* out) const {
    alignas(16) char value[16];
    line.along(x, n, value);
    loop(out, value, out, 1, Repeat::kNone);
  }

  // out[k] = op over r of x[r, k], lines `stride` bytes apart.
  void FoldLines(const char* x, int64_t lines, int64_t stride, int64_t n, char* out) const {
    const int64_t block = std::max<int64_t>(1, kBlockBytes / width);
    if (n < 64 && lines >= 8 && stride == n * width) {
      // Several short lines side by side make one long line, which is folded at the end.
      const int64_t together = std::min(lines, CeilOf(256, n));
      std::vector<char> sums(x, x + together * stride);
      const int64_t rounds = lines / together;
      for (int64_t i = 1; i < rounds; ++i) {
        loop(sums.data(), x + i * together * stride, sums.data(), together * n, Repeat::kNone);
      }
      for (int64_t i = 0; i < together; ++i) loop(out, sums.data() + i * stride, out, n, Repeat::kNone);
      for (int64_t i = rounds * together; i < lines; ++i) loop(out, x + i * stride, out, n, Repeat::kNone);
      return;
    }
    for (int64_t k = 0; k < n; k += block) {
      const int64_t count = std::min(block, n - k);
      line.across(x + k * width, lines, stride, count, out + k * width);
    }
  }

  void Fold(Dims dims, const char* x, char* out) const {
    const ReduceNest::Dim& dim = dims[0];
    if (dims.size() == 1) {
      if (dim.kept) {
        loop(out, x, out, dim.size, Repeat::kNone);
      } else {
        FoldLine(x, dim.size, out);
      }
      return;
    }
    const Dims rest = dims.subspan(1);
    const int64_t x_step = Elements(rest, false) * width;
    const int64_t out_step = dim.kept ? Elements(rest, true) * width : 0;
    if (rest.size() == 1 && !dim.kept && rest[0].kept) {
      FoldLines(x, dim.size, x_step, rest[0].size, out);
      return;
    }
    for (int64_t i = 0; i < dim.size; ++i) Fold(rest, x + i * x_step, out + i * out_step);
  }

  static int64_t CeilOf(int64_t a, int64_t b) { return (a + b - 1) / b; }
};

}  // namespace

LineReduction FindLineReduction(Opcode opcode, PrimitiveType type) {
  return VisitArrayType(
      type, [&](auto tag) { return Find<typename decltype(tag)::type>(opcode); }, LineReduction{});
}

void ReduceInto(const ReduceNest& nest, LineReduction line, BinaryLoop loop, int64_t width, const char* x,
                char* out) {
  const Folder folder{line, loop, width};
  const auto dims = absl::MakeConstSpan(nest.dims);
  for (const auto& dim : dims) {
    if (dim.size == 0) return;
  }
  if (dims.empty()) {
    loop(out, x, out, 1, Repeat::kNone);
    return;
  }
  const int64_t bytes = folder.Elements(dims, false) * width;
  if (bytes <= kGrainBytes) {
    folder.Fold(dims, x, out);
  } else if (dims[0].kept) {
    const int64_t x_step = folder.Elements(dims.subspan(1), false) * width;
    const int64_t out_step = folder.Elements(dims.subspan(1), true) * width;
    ParallelFor(dims[0].size, std::max<int64_t>(1, kGrainBytes / x_step), [&](int64_t begin, int64_t end) {
      ReduceNest part = nest;
      part.dims[0].size = end - begin;
      folder.Fold(part.dims, x + begin * x_step, out + begin * out_step);
    });
  } else if (dims.size() == 1) {
    // Uses the chunks and the order of ReduceLine.
    const int64_t n = dims[0].size, chunks = Folder::CeilOf(n, kChunk);
    std::vector<char> partial(chunks * width);
    ParallelFor(
        chunks, std::max<int64_t>(1, kGrainBytes / (kChunk * width)), [&](int64_t begin, int64_t end) {
          for (int64_t c = begin; c < end; ++c) {
            line.along(x + c * kChunk * width, std::min(kChunk, n - c * kChunk), partial.data() + c * width);
          }
        });
    for (int64_t c = 1; c < chunks; ++c) {
      loop(partial.data(), partial.data() + c * width, partial.data(), 1, Repeat::kNone);
    }
    loop(out, partial.data(), out, 1, Repeat::kNone);
  } else if (dims.size() == 2 && dims[1].size < 64) {
    folder.Fold(dims, x, out);
  } else {
    // The first dimension is reduced and the second kept: the second is split over threads.
    const auto rest = dims.subspan(2);
    const int64_t x_inner = folder.Elements(rest, false) * width,
                  out_inner = folder.Elements(rest, true) * width;
    const int64_t x_step = dims[1].size * x_inner;
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / (x_inner * dims[0].size));
    ParallelFor(dims[1].size, std::max(grain, rest.empty() ? kNarrowestBytes / width : 1),
                [&](int64_t begin, int64_t end) {
                  if (rest.empty()) {
                    folder.FoldLines(x + begin * x_inner, dims[0].size, x_step, end - begin,
                                     out + begin * out_inner);
                    return;
                  }
                  ReduceNest part;
                  part.dims.push_back({end - begin, true});
                  part.dims.insert(part.dims.end(), rest.begin(), rest.end());
                  for (int64_t r = 0; r < dims[0].size; ++r) {
                    folder.Fold(part.dims, x + r * x_step + begin * x_inner, out + begin * out_inner);
                  }
                });
  }
}

}  // namespace toroid::TOROID_LEVEL
