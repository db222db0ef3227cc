#include "runtime/loops/prefix_scan.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/loops/block_convert.h"
#include "runtime/loops/strided_copy.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

constexpr int64_t kVector = 64;        // Elements of one call of a loop, at least.
constexpr int64_t kTile = 512;         // Elements of a row that one task scans.
constexpr int64_t kBlockVectors = 16;  // Vectors in a block of a narrow line.
constexpr int64_t kBlockRows = 64;     // Rows in a block of wide rows.
constexpr int64_t kChunkBlocks = 64;   // Blocks in a chunk.
constexpr int64_t kGrain = 16 << 10;   // Elements.
constexpr int64_t kGroupLines = 64;    // Short lines that are scanned beside each other.
constexpr int64_t kShortLine = 2 * kVector;

// Reads and writes the arrays' type as the loop's.
class Access {
 public:
  explicit Access(const PrefixScan& scan)
      : type_(scan.type),
        narrow_(IsNarrowFloat(scan.type)),
        stored_(ByteWidth(scan.type)),
        width_(narrow_ ? static_cast<int64_t>(sizeof(float)) : stored_) {}

  bool narrow() const { return narrow_; }
  int64_t stored() const { return stored_; }  // Bytes of an element in the arrays, and in scratch.
  int64_t width() const { return width_; }

  void Read(const char* from, char* to, int64_t n) const {
    if (narrow_) {
      NarrowToFloat(type_, from, reinterpret_cast<float*>(to), n);
    } else {
      std::memcpy(to, from, n * width_);
    }
  }
  void Write(const char* from, char* to, int64_t n) const {
    if (narrow_) {
      FloatToNarrow(type_, reinterpret_cast<const float*>(from), to, n);
    } else {
      std::memcpy(to, from, n * width_);
    }
  }

 private:
  PrimitiveType type_;
  bool narrow_;
  int64_t stored_, width_;
};

// to[i] = from[i mod inner] for i < n, elements of `width` bytes.
void Tile(const char* from, int64_t inner, int64_t width, int64_t n, char* to) {
  const int64_t bytes = n * width;
  int64_t done = std::min(inner * width, bytes);
  std::memmove(to, from, done);
  while (done < bytes) {
    const int64_t more = std::min(done, bytes - done);
    std::memcpy(to + done, to, more);
    done += more;
  }
}

// Rows of at least kVector elements, or any rows of few lines.
class WideRows {
 public:
  WideRows(const PrefixScan& scan, int64_t most)
      : scan_(scan), access_(scan), memory_(new char[Bytes(scan, most)]) {
    char* at = memory_.get();
    for (char** part : {&local_, &blocks_, &chunks_, &read_, &written_}) {
      *part = at;
      at += most * access_.width();
    }
  }

  static int64_t Bytes(const PrefixScan& scan, int64_t most) { return 5 * most * Access(scan).width(); }

  // Scans n <= `most` elements of each row; rows are `stride` elements apart.
  void Run(const char* x, const char* init, int64_t n, int64_t x_stride, int64_t out_stride, char* out) {
    char first[16];
    access_.Read(init, first, 1);
    const BinaryLoop loop = scan_.loop;
    bool have_blocks = false, have_chunks = false;
    const char* previous = nullptr;
    for (int64_t k = 0; k < scan_.rows; ++k) {
      const int64_t row = scan_.reverse ? scan_.rows - 1 - k : k;
      const char* in = x + row * x_stride * access_.stored();
      char* to = out + row * out_stride * access_.stored();
      if (access_.narrow()) {
        access_.Read(in, read_, n);
        in = read_;
      }
      const bool carried = have_blocks || have_chunks, direct = !carried && !access_.narrow();
      char* local = direct ? to : local_;
      if (k % kBlockRows == 0) {
        loop(first, in, local, n, Repeat::kFirst);
      } else {
        loop(previous, in, local, n, Repeat::kNone);
      }
      previous = local;
      const char* value = local;
      char* target = access_.narrow() ? written_ : to;
      if (have_blocks) {
        loop(blocks_, value, target, n, Repeat::kNone);
        value = target;
      }
      if (k % kBlockRows == kBlockRows - 1) {
        std::memcpy(blocks_, value, n * access_.width());
        have_blocks = true;
      }
      if (have_chunks) {
        loop(chunks_, value, target, n, Repeat::kNone);
        value = target;
      }
      if (access_.narrow()) access_.Write(value, to, n);
      if (k % (kBlockRows * kChunkBlocks) == kBlockRows * kChunkBlocks - 1) {
        if (have_chunks) {
          loop(chunks_, blocks_, chunks_, n, Repeat::kNone);
        } else {
          std::memcpy(chunks_, blocks_, n * access_.width());
        }
        have_chunks = true;
        have_blocks = false;
      }
    }
  }

 private:
  const PrefixScan& scan_;
  const Access access_;
  const std::unique_ptr<char[]> memory_;
  char *local_, *blocks_, *chunks_;  // The three folds of the header.
  char *read_, *written_;            // A row as the loop's type.
};

// Lines whose rows have less than kVector elements, as vectors of whole rows.
class NarrowLines {
 public:
  explicit NarrowLines(const PrefixScan& scan)
      : scan_(scan),
        access_(scan),
        vector_(VectorOf(scan)),
        block_(kBlockVectors * vector_),
        memory_(new char[Bytes(scan)]) {
    const int64_t width = access_.width();
    a_ = memory_.get() + vector_ * width;
    b_ = a_ + (block_ + 2 * vector_) * width;
    blocks_ = b_ + (block_ + vector_) * width;
    chunks_ = blocks_ + block_ * width;
  }

  static int64_t Bytes(const PrefixScan& scan) {
    return (4 * kBlockVectors + 4) * VectorOf(scan) * Access(scan).width();
  }

  void Run(const char* x, const char* init, char* out) {
    const int64_t width = access_.width(), total = scan_.rows * scan_.inner;
    for (char* buffer : {a_, b_}) {
      char* first = buffer - vector_ * width;
      access_.Read(init, first, 1);
      Tile(first, 1, width, vector_, first);
      Tile(first, 1, width, vector_, buffer + block_ * width);
    }
    have_blocks_ = have_chunks_ = false;
    for (int64_t done = 0, block = 0; done < total; done += block_, ++block) {
      const int64_t n = std::min(block_, total - done), at = scan_.reverse ? total - done - n : done;
      Block(x + at * access_.stored(), n, out + at * access_.stored());
      if (block % kChunkBlocks != kChunkBlocks - 1) continue;
      if (have_chunks_) {
        scan_.loop(chunks_, blocks_, chunks_, block_, Repeat::kNone);
      } else {
        std::memcpy(chunks_, blocks_, block_ * width);
      }
      have_chunks_ = true;
      have_blocks_ = false;
    }
  }

 private:
  // Elements that are whole rows, a power of two of them.
  static int64_t VectorOf(const PrefixScan& scan) {
    int64_t n = scan.inner;
    while (n < kVector) n *= 2;
    return n;
  }

  void Block(const char* x, int64_t n, char* out) {
    const int64_t width = access_.width(), sign = scan_.reverse ? 1 : -1;
    const BinaryLoop loop = scan_.loop;
    // Before the first element (behind the last one, if reversed) stand vector_ times `init`.
    const int64_t skip = scan_.reverse ? (block_ - n) * width : 0;
    char *from = a_ + skip, *to = b_ + skip;
    access_.Read(x, from, n);
    for (int64_t step = scan_.inner; step < vector_ && step < n; step *= 2) {
      loop(from, from + sign * step * width, to, n, Repeat::kNone);
      std::swap(from, to);
    }
    // Each element holds the fold of the last vector_ elements; those before it follow in vectors.
    for (int64_t done = 0; done < n; done += vector_) {
      const int64_t count = std::min(vector_, n - done), at = scan_.reverse ? n - done - count : done;
      char* vector = from + at * width;
      loop(vector, vector + sign * vector_ * width, vector, count, Repeat::kNone);
    }
    if (have_blocks_) loop(blocks_, from, from, n, Repeat::kNone);
    if (n == block_) {
      const char* last = from + (scan_.reverse ? 0 : n - scan_.inner) * width;
      Tile(last, scan_.inner, width, block_, blocks_);
      have_blocks_ = true;
    }
    if (have_chunks_) loop(chunks_, from, from, n, Repeat::kNone);
    access_.Write(from, out, n);
  }

  const PrefixScan& scan_;
  const Access access_;
  const int64_t vector_, block_;
  const std::unique_ptr<char[]> memory_;
  char *a_, *b_;            // A block, with room for a vector at both ends.
  char *blocks_, *chunks_;  // The last row of the folds of the header, again and again.
  bool have_blocks_ = false, have_chunks_ = false;
};

int64_t CeilOf(int64_t n, int64_t d) { return (n + d - 1) / d; }

void ScanWide(const PrefixScan& scan, const char* x, const char* init, char* out) {
  const int64_t width = ByteWidth(scan.type), tiles = CeilOf(scan.inner, kTile);
  const int64_t most = std::min(scan.inner, kTile);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, scan.rows * most));
  ParallelFor(scan.copies * scan.lines * tiles, grain, [&](int64_t begin, int64_t end) {
    WideRows rows(scan, most);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t tile = task % tiles * kTile, line = task / tiles % scan.lines,
                    copy = task / tiles / scan.lines;
      const int64_t n = std::min(kTile, scan.inner - tile);
      rows.Run(x + copy * scan.x_copy + line * scan.x_line + tile * width, init + copy * scan.init_copy, n,
               scan.inner, scan.inner, out + copy * scan.out_copy + line * scan.out_line + tile * width);
    }
  });
}

void ScanNarrow(const PrefixScan& scan, const char* x, const char* init, char* out) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, scan.rows * scan.inner));
  ParallelFor(scan.copies * scan.lines, grain, [&](int64_t begin, int64_t end) {
    NarrowLines lines(scan);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t line = task % scan.lines, copy = task / scan.lines;
      lines.Run(x + copy * scan.x_copy + line * scan.x_line, init + copy * scan.init_copy,
                out + copy * scan.out_copy + line * scan.out_line);
    }
  });
}

// Groups of short lines, transposed to rows [rows, group, inner].
void ScanShort(const PrefixScan& scan, const char* x, const char* init, char* out) {
  const int64_t width = ByteWidth(scan.type), groups = CeilOf(scan.lines, kGroupLines);
  const int64_t row = kGroupLines * scan.inner, size = scan.rows * row;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, size));
  ParallelFor(scan.copies * groups, grain, [&](int64_t begin, int64_t end) {
    WideRows rows(scan, row);
    const std::unique_ptr<char[]> memory(new char[2 * size * width]);
    char *from = memory.get(), *to = from + size * width;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % groups * kGroupLines, copy = task / groups;
      const int64_t count = std::min(kGroupLines, scan.lines - first);
      const auto transpose = [&](int64_t line_bytes, bool in) {
        StridedLoop loop;
        loop.width = width;
        const int64_t piece = scan.inner * width;
        loop.Add(count, in ? line_bytes : piece, in ? piece : line_bytes);
        loop.Add(scan.rows, in ? piece : row * width, in ? row * width : piece);
        loop.Add(scan.inner, width, width);
        loop.Optimize();
        return loop;
      };
      StridedCopy(transpose(scan.x_line, true), x + copy * scan.x_copy + first * scan.x_line, from);
      rows.Run(from, init + copy * scan.init_copy, count * scan.inner, row, row, to);
      StridedCopy(transpose(scan.out_line, false), to, out + copy * scan.out_copy + first * scan.out_line);
    }
  });
}

bool IsShort(const PrefixScan& scan) {
  return scan.inner < kVector && scan.rows * scan.inner <= kShortLine && scan.lines > 1;
}

}  // namespace

int64_t ScanScratchBytes(const PrefixScan& scan) {
  if (IsShort(scan)) {
    const int64_t row = kGroupLines * scan.inner;
    return WideRows::Bytes(scan, row) + 2 * scan.rows * row * ByteWidth(scan.type);
  }
  return scan.inner < kVector ? NarrowLines::Bytes(scan) : WideRows::Bytes(scan, std::min(scan.inner, kTile));
}

void ScanRows(const PrefixScan& scan, const char* x, const char* init, char* out) {
  if (scan.rows == 0 || scan.inner == 0) return;
  if (IsShort(scan)) return ScanShort(scan, x, init, out);
  if (scan.inner < kVector) return ScanNarrow(scan, x, init, out);
  ScanWide(scan, x, init, out);
}

}  // namespace toroid
