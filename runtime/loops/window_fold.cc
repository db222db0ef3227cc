#include "runtime/loops/window_fold.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "hlo/base/math.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

constexpr int64_t kWideRow = 32;      // Elements from which a row is worth a call of a loop.
constexpr int64_t kTile = 4096;       // Elements of a row, or of a piece of a line, at a time.
constexpr int64_t kGrain = 16 << 10;  // Elements.

int64_t Log2(int64_t n) {
  int64_t log = 0;
  while ((int64_t{2} << log) <= n) ++log;
  return log;
}

int64_t Saturating(int64_t a, int64_t b) { return CheckedMultiply(a, b).value_or(INT64_MAX); }

// Elements of a window from its first to its last one.
int64_t Extent(const WindowFold& fold) {
  return std::min(Saturating(fold.size - 1, fold.dilation), int64_t{1} << 60) + 1;
}

bool FoldsRowByRow(const WindowFold& fold) {
  const int64_t positions = Extent(fold) + (fold.count - 1) * fold.stride;
  return fold.inner >= kWideRow &&
         (fold.size <= 4 || Saturating(fold.size, fold.count) <= Saturating(2 * Log2(fold.size), positions));
}

// The pieces of a line that are folded at once: `columns` elements of each row, and `windows` windows.
struct Piece {
  int64_t columns, windows, positions;

  explicit Piece(const WindowFold& fold) {
    const int64_t extent = Extent(fold);
    columns = std::min(fold.inner, std::max<int64_t>(kWideRow, kTile / extent));
    const int64_t room = std::max(kTile / columns, 2 * extent);
    windows = std::clamp<int64_t>((room - extent) / fold.stride, 1, fold.count);
    positions = extent + (windows - 1) * fold.stride;
  }
};

class Folder {
 public:
  explicit Folder(const WindowFold& fold)
      : fold_(fold),
        type_(ComputeType(fold.x_type)),
        width_(ByteWidth(type_)),
        x_width_(ByteWidth(fold.x_type)),
        out_width_(ByteWidth(fold.out_type)),
        memory_(new char[WindowScratchBytes(fold)]) {}

  int64_t x_width() const { return x_width_; }
  int64_t out_width() const { return out_width_; }

  void SetInit(const char* init) { init_ = init; }

  // out[j] for one window, n <= kTile elements of the rows at x and out.
  void FoldRows(const char* x, int64_t j, int64_t n, char* out) {
    const bool converts = fold_.out_type != type_;
    char *acc = converts ? memory_.get() : out, *row = memory_.get() + kTile * width_;
    bool first = true;
    ForEachElement(j, [&](int64_t p) {
      const char* in = x + p * fold_.inner * x_width_;
      if (fold_.x_type != type_) {
        Read(in, row, n);
        in = row;
      }
      if (first) {
        fold_.loop(init_, in, acc, n, Repeat::kFirst);
      } else {
        fold_.loop(acc, in, acc, n, Repeat::kNone);
      }
      first = false;
    });
    if (first) Fill(acc, init_, width_, n);
    if (converts) Write(acc, out, n);
  }

  // out[j] for windows [first, first + count), `columns` elements of each row.
  void FoldPiece(const char* x, int64_t first, int64_t count, int64_t columns, char* out) {
    const int64_t positions = Extent(fold_) + (count - 1) * fold_.stride,
                  bytes = positions * columns * width_;
    char *from = memory_.get(), *a = from + bytes, *b = a + bytes;
    Place(x, first * fold_.stride - fold_.low, positions, columns, from);
    char* acc = FoldAll(positions, columns, from, a, b);
    if (fold_.stride > 1) {
      char* taken = acc == a ? b : a;
      const int64_t row = columns * width_;
      for (int64_t j = 0; j < count; ++j) std::memcpy(taken + j * row, acc + j * fold_.stride * row, row);
      acc = taken;
    }
    fold_.loop(init_, acc, acc, count * columns, Repeat::kFirst);
    const int64_t rows = columns == fold_.inner ? 1 : count, n = count * columns / rows;
    for (int64_t j = 0; j < rows; ++j) {
      Write(acc + j * n * width_, out + (first + j) * fold_.inner * out_width_, n);
    }
  }

 private:
  // Calls visit(p) for the elements p of window j, in order.
  template <typename Visit>
  void ForEachElement(int64_t j, Visit&& visit) const {
    const int64_t begin = j * fold_.stride - fold_.low, dilation = fold_.dilation, base = fold_.base;
    if (base == 1) {
      const int64_t first = begin >= 0 ? 0 : (-begin + dilation - 1) / dilation;
      const int64_t end = begin >= fold_.n ? 0 : std::min(fold_.size, (fold_.n - 1 - begin) / dilation + 1);
      for (int64_t k = first; k < end; ++k) visit(begin + k * dilation);
      return;
    }
    for (int64_t p = begin <= 0 ? 0 : (begin + base - 1) / base; p < fold_.n; ++p) {
      const int64_t from_begin = p * base - begin;
      if (from_begin / dilation >= fold_.size) break;
      if (from_begin % dilation == 0) visit(p);
    }
  }

  void Read(const char* from, char* to, int64_t n) const {
    if (fold_.x_type != type_) {
      NarrowToFloat(fold_.x_type, from, reinterpret_cast<float*>(to), n);
    } else {
      std::memcpy(to, from, n * width_);
    }
  }
  void Write(const char* from, char* to, int64_t n) const {
    if (fold_.out_type != type_) {
      FloatToNarrow(fold_.out_type, reinterpret_cast<const float*>(from), to, n);
    } else {
      std::memcpy(to, from, n * width_);
    }
  }

  // to[p] = the row at position begin + p, for p < positions.
  void Place(const char* x, int64_t begin, int64_t positions, int64_t columns, char* to) const {
    const int64_t base = fold_.base, row = columns * width_;
    // The elements that are inside: lowest <= p < end.
    const int64_t lowest = begin <= 0 ? 0 : (begin + base - 1) / base;
    const int64_t last = begin + positions - 1;
    const int64_t end = last < 0 ? 0 : std::min(fold_.n, last / base + 1);
    if (base > 1 || lowest >= end || end - lowest < positions) Fill(to, init_, width_, positions * columns);
    if (lowest >= end) return;
    if (base == 1 && columns == fold_.inner) {
      Read(x + lowest * fold_.inner * x_width_, to + (lowest - begin) * row, (end - lowest) * columns);
      return;
    }
    for (int64_t p = lowest; p < end; ++p) {
      Read(x + p * fold_.inner * x_width_, to + (p * base - begin) * row, columns);
    }
  }

  // The fold of the window that begins at each position, in a or b.
  char* FoldAll(int64_t positions, int64_t columns, const char* from, char* a, char* b) const {
    const int64_t step = fold_.dilation * columns * width_, size = fold_.size;
    const BinaryLoop loop = fold_.loop;
    const int64_t windows = (positions - Extent(fold_) + 1) * columns;
    if (size <= 4) {
      std::memcpy(a, from, windows * width_);
      for (int64_t k = 1; k < size; ++k) loop(a, from + k * step, a, windows, Repeat::kNone);
      return a;
    }
    // power[p] is the fold of `run` elements from p on; acc[p] of the `covered` first ones of a window.
    const char* power = from;
    char *doubled = a, *acc = b, *spare = b + positions * columns * width_;
    int64_t covered = 0, length = positions;
    for (int64_t run = 1;; run *= 2) {
      if (size & run) {
        if (covered == 0) {
          std::memcpy(acc, power, windows * width_);
        } else {
          loop(acc, power + covered * step, acc, windows, Repeat::kNone);
        }
        covered += run;
      }
      if (2 * run > size) return acc;
      length -= run * fold_.dilation;
      loop(power, power + run * step, doubled, length * columns, Repeat::kNone);
      power = doubled;
      std::swap(doubled, spare);
    }
  }

  const WindowFold& fold_;
  const PrimitiveType type_;
  const int64_t width_, x_width_, out_width_;
  const std::unique_ptr<char[]> memory_;
  const char* init_ = nullptr;
};

int64_t CeilOf(int64_t n, int64_t d) { return (n + d - 1) / d; }

}  // namespace

int64_t WindowScratchBytes(const WindowFold& fold) {
  const int64_t width = ByteWidth(ComputeType(fold.x_type));
  if (FoldsRowByRow(fold)) return 2 * kTile * width;
  const Piece piece(fold);
  return Saturating(4 * width, Saturating(piece.positions, piece.columns));
}

void FoldWindowsOfDim(const WindowFold& fold, const char* x, const char* init, char* out) {
  const bool rows = FoldsRowByRow(fold);
  const Piece piece(fold);
  const int64_t columns = rows ? std::min(kTile, fold.inner) : piece.columns,
                windows = rows ? 1 : piece.windows;
  const int64_t tiles = CeilOf(fold.inner, columns), pieces = CeilOf(fold.count, windows);
  const int64_t work = Saturating(columns, rows ? fold.size : piece.positions);
  ParallelFor(fold.copies * fold.outer * tiles * pieces, std::max<int64_t>(1, kGrain / work),
              [&](int64_t begin, int64_t end) {
                Folder folder(fold);
                const int64_t x_line = fold.n * fold.inner * folder.x_width(),
                              out_line = fold.count * fold.inner * folder.out_width();
                int64_t last_copy = -1;
                for (int64_t task = begin; task < end; ++task) {
                  const int64_t first = task % pieces * windows, tile = task / pieces % tiles * columns;
                  const int64_t line = task / pieces / tiles, copy = line / fold.outer;
                  if (copy != last_copy) folder.SetInit(init + copy * fold.init_copy);
                  last_copy = copy;
                  const char* from =
                      x + copy * fold.x_copy + line % fold.outer * x_line + tile * folder.x_width();
                  char* to = out + line * out_line + tile * folder.out_width();
                  const int64_t n = std::min(columns, fold.inner - tile);
                  if (rows) {
                    folder.FoldRows(from, first, n, to + first * fold.inner * folder.out_width());
                  } else {
                    folder.FoldPiece(from, first, std::min(windows, fold.count - first), n, to);
                  }
                }
              });
}

}  // namespace toroid
