// BUILD: per_level
#include "runtime/loops/strided_copy.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/loops/element_widths.h"
#include "runtime/loops/thread_pool.h"

namespace toroid::TOROID_LEVEL {
namespace {

constexpr int64_t kGrainBytes = 128 << 10;

template <typename T>
void CopyLine(const StridedLoop::Dim& dim, const char* source, char* target) {
  constexpr int64_t kWidth = sizeof(T);
  if (dim.target == kWidth) {
    if (dim.source == kWidth) {
      std::memcpy(target, source, dim.size * kWidth);
      return;
    }
    T* out = reinterpret_cast<T*>(target);
    if (dim.source == 0) {
      const T value = *reinterpret_cast<const T*>(source);
      std::fill(out, out + dim.size, value);
      return;
    }
    for (int64_t i = 0; i < dim.size; ++i) out[i] = *reinterpret_cast<const T*>(source + i * dim.source);
    return;
  }
  for (int64_t i = 0; i < dim.size; ++i) {
    *reinterpret_cast<T*>(target + i * dim.target) = *reinterpret_cast<const T*>(source + i * dim.source);
  }
}

// 8 x 8 words in vector registers: pairs, then quadruples, then halves are exchanged.
[[gnu::always_inline]] inline void TransposeWords(const char* source, int64_t source_stride, char* target,
                                                  int64_t target_stride) {
  typedef uint32_t Words __attribute__((vector_size(32)));
  Words r[8], t[8];
  for (int i = 0; i < 8; ++i) std::memcpy(&r[i], source + i * source_stride, sizeof(Words));
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    r[i + 1] = __builtin_shufflevector(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    r[i + 2] = __builtin_shufflevector(t[i + 1], t[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    r[i + 3] = __builtin_shufflevector(t[i + 1], t[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = __builtin_shufflevector(r[i], r[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    t[i + 4] = __builtin_shufflevector(r[i], r[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) std::memcpy(target + i * target_stride, &t[i], sizeof(Words));
}

// Large results are written past the caches, so that they do not evict other data.
constexpr int64_t kVectorBytes = 32;
constexpr int64_t kStreamBytes = 2 << 20;
#if defined(__AVX__)
constexpr bool kCanStream = true;
[[gnu::always_inline]] inline void StreamLine(char* target, const char* source, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kVectorBytes) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target + i),
                        _mm256_load_si256(reinterpret_cast<const __m256i*>(source + i)));
  }
}
void EndStream() { _mm_sfence(); }
#else
constexpr bool kCanStream = false;
[[gnu::always_inline]] inline void StreamLine(char* target, const char* source, int64_t bytes) {
  std::memcpy(target, source, bytes);
}
void EndStream() {}
#endif

// Transposes a tile of kTile x kTile elements: lines of `source` become columns of `target`; strides in
// bytes. Copies through a small array, so that each cache line of either side is touched once. With kStream
// the target's lines are written past the caches and must be aligned to a vector.
template <typename T, int64_t kTile, bool kStream>
[[gnu::always_inline]] inline void TransposeTile(const char* source, int64_t source_stride, char* target,
                                                 int64_t target_stride) {
  alignas(64) T tile[kTile][kTile];
  for (int64_t b = 0; b < kTile && !kStream; ++b) __builtin_prefetch(source + (kTile + b) * source_stride);
  if constexpr (sizeof(T) == 4) {
    for (int64_t b = 0; b < kTile; b += 8) {
      for (int64_t a = 0; a < kTile; a += 8) {
        TransposeWords(source + b * source_stride + a * sizeof(T), source_stride,
                       reinterpret_cast<char*>(&tile[a][b]), sizeof(tile[0]));
      }
    }
  } else {
    for (int64_t b = 0; b < kTile; ++b) {
      const T* line = reinterpret_cast<const T*>(source + b * source_stride);
      for (int64_t a = 0; a < kTile; ++a) tile[a][b] = line[a];
    }
  }
  for (int64_t a = 0; a < kTile; ++a) {
    if constexpr (kStream) {
      StreamLine(target + a * target_stride, reinterpret_cast<const char*>(tile[a]), sizeof(tile[a]));
    } else {
      std::memcpy(target + a * target_stride, tile[a], sizeof(tile[a]));
    }
  }
}

// out[i][j] = in[j][i] for a 2-d loop whose outer dimension is contiguous in the source and whose inner
// dimension is contiguous in the target. Tiles span whole cache lines; bands of kBand source lines limit the
// number of pages in use.
template <typename T, bool kStream>
void TransposeTiles(const StridedLoop::Dim& outer, const StridedLoop::Dim& inner, const char* source,
                    char* target) {
  constexpr int64_t kTile = 64 / sizeof(T) < 8 ? 8 : 64 / sizeof(T);
  constexpr int64_t kBand = 256;
  for (int64_t band = 0; band < inner.size; band += kBand) {
    const int64_t band_end = std::min(inner.size, band + kBand);
    for (int64_t i = 0; i < outer.size; i += kTile) {
      const int64_t i_end = std::min(outer.size, i + kTile);
      for (int64_t j = band; j < band_end; j += kTile) {
        const int64_t j_end = std::min(band_end, j + kTile);
        const char* from = source + i * outer.source + j * inner.source;
        char* to = target + i * outer.target + j * inner.target;
        if (i_end - i == kTile && j_end - j == kTile) {
          TransposeTile<T, kTile, kStream>(from, inner.source, to, outer.target);
          continue;
        }
        for (int64_t a = 0; a < i_end - i; ++a) {
          for (int64_t b = 0; b < j_end - j; ++b) {
            *reinterpret_cast<T*>(to + a * outer.target + b * inner.target) =
                *reinterpret_cast<const T*>(from + a * outer.source + b * inner.source);
          }
        }
      }
    }
  }
}

// A 2-d loop whose inner dimension has kInner elements.
template <typename T, int64_t kInner>
void CopyShortLines(const StridedLoop::Dim& outer, const StridedLoop::Dim& inner, const char* source,
                    char* target) {
  if (inner.source == 0 && inner.target == sizeof(T) && outer.source == sizeof(T) &&
      outer.target == kInner * static_cast<int64_t>(sizeof(T))) {
    // Each element several times.
    const T* in = reinterpret_cast<const T*>(source);
    T* out = reinterpret_cast<T*>(target);
    for (int64_t i = 0; i < outer.size; ++i) {
      for (int64_t j = 0; j < kInner; ++j) out[i * kInner + j] = in[i];
    }
    return;
  }
  for (int64_t i = 0; i < outer.size; ++i, source += outer.source, target += outer.target) {
    for (int64_t j = 0; j < kInner; ++j) {
      *reinterpret_cast<T*>(target + j * inner.target) =
          *reinterpret_cast<const T*>(source + j * inner.source);
    }
  }
}

// The same for 2 to 4 elements; false for others.
template <typename T>
bool CopyShortLines(const StridedLoop::Dim& outer, const StridedLoop::Dim& inner, const char* source,
                    char* target) {
  switch (inner.size) {
    case 2:
      CopyShortLines<T, 2>(outer, inner, source, target);
      return true;
    case 3:
      CopyShortLines<T, 3>(outer, inner, source, target);
      return true;
    case 4:
      CopyShortLines<T, 4>(outer, inner, source, target);
      return true;
    default:
      return false;
  }
}

template <typename T>
void CopyNest(const StridedLoop& loop, size_t level, const char* source, char* target) {
  const StridedLoop::Dim& dim = loop.dims[level];
  const size_t left = loop.dims.size() - level;
  if (left == 1) {
    CopyLine<T>(dim, source, target);
    return;
  }
  if (left == 2) {
    const StridedLoop::Dim& inner = loop.dims[level + 1];
    if (dim.source == sizeof(T) && inner.target == sizeof(T) && dim.size >= 8 && inner.size >= 8) {
      const bool aligned =
          reinterpret_cast<uintptr_t>(target) % kVectorBytes == 0 && dim.target % kVectorBytes == 0;
      if (aligned && kCanStream && dim.size * inner.size * static_cast<int64_t>(sizeof(T)) >= kStreamBytes) {
        TransposeTiles<T, kCanStream>(dim, inner, source, target);
        EndStream();
      } else {
        TransposeTiles<T, false>(dim, inner, source, target);
      }
      return;
    }
    if (CopyShortLines<T>(dim, inner, source, target)) return;
    for (int64_t i = 0; i < dim.size; ++i) {
      CopyLine<T>(inner, source + i * dim.source, target + i * dim.target);
    }
    return;
  }
  for (int64_t i = 0; i < dim.size; ++i) {
    CopyNest<T>(loop, level + 1, source + i * dim.source, target + i * dim.target);
  }
}

}  // namespace

void StridedCopy(const StridedLoop& loop, const char* source, char* target) {
  for (const StridedLoop::Dim& dim : loop.dims) {
    if (dim.size == 0) return;
  }
  if (loop.dims.empty()) {
    std::memcpy(target, source, loop.width);
    return;
  }
  WithWidth(loop.width, [&](auto tag) { CopyNest<decltype(tag)>(loop, 0, source, target); });
}

void ParallelStridedCopy(StridedLoop loop, const char* source, char* target) {
  loop.Optimize();
  int64_t bytes = loop.width;
  for (const StridedLoop::Dim& dim : loop.dims) {
    if (dim.size == 0) return;
    bytes *= dim.size;
  }
  if (bytes <= kGrainBytes || loop.dims.empty()) {
    StridedCopy(loop, source, target);
    return;
  }
  // Splits the longest of the outer dimensions, in multiples of a tile.
  size_t split = 0;
  for (size_t i = 1; i < loop.dims.size() && loop.dims[split].size < 16; ++i) {
    if (loop.dims[i].size > loop.dims[split].size) split = i;
  }
  const StridedLoop::Dim dim = loop.dims[split];
  int64_t grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(1, bytes / dim.size));
  if (dim.size >= 128) grain = (grain + 63) / 64 * 64;
  ParallelFor(dim.size, grain, [&](int64_t begin, int64_t end) {
    StridedLoop part = loop;
    part.dims[split].size = end - begin;
    StridedCopy(part, source + begin * dim.source, target + begin * dim.target);
  });
}

void Fill(char* target, const char* element, int64_t width, int64_t n) {
  WithWidth(width, [&](auto tag) {
    using T = decltype(tag);
    ParallelFor(n, kGrainBytes / static_cast<int64_t>(sizeof(T)), [&](int64_t begin, int64_t end) {
      std::fill(reinterpret_cast<T*>(target) + begin, reinterpret_cast<T*>(target) + end,
                *reinterpret_cast<const T*>(element));
    });
  });
}

}  // namespace toroid::TOROID_LEVEL
