// Moves lines of an array into vectors, a line in each lane, and back, for fft_lines.
//
// Element k of kLanes lines is `row` doubles: kLanes real parts, and, if kImag, kLanes imaginary parts.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>

#include "hlo/ir/native_types.h"

namespace toroid::TOROID_LEVEL {

// Lines of an array: where element 0 of each is, and how far elements are apart.
template <int64_t kLanes>
struct Lines {
  int64_t offsets[kLanes];
  int64_t count;  // At most kLanes.
  int64_t step;

  bool beside_each_other() const { return step != 1 && offsets[count - 1] == offsets[0] + count - 1; }
  // From element k on.
  Lines From(int64_t k) const {
    Lines lines = *this;
    for (int64_t l = 0; l < count; ++l) lines.offsets[l] += k * step;
    return lines;
  }
};

template <typename T>
std::complex<double> Widen(T x) {
  if constexpr (kIsComplex<T>) {
    return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
  } else {
    return {static_cast<double>(x), 0};
  }
}

template <typename T>
T Round(double real, [[maybe_unused]] double imag) {
  if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    return {static_cast<Part>(real), static_cast<Part>(imag)};
  } else {
    return static_cast<T>(real);
  }
}

// r[j], i[j] = x[j * step] for j < n, and back.
template <bool kImag, typename T>
[[gnu::always_inline]] inline void Split(const T* x, int64_t step, int64_t n, double* r, double* i) {
  for (int64_t j = 0; j < n; ++j) {
    const std::complex<double> value = Widen(x[j * step]);
    r[j] = value.real();
    if constexpr (kImag) i[j] = value.imag();
  }
}
template <bool kImag, typename T>
[[gnu::always_inline]] inline void Join(const double* r, const double* i, int64_t step, int64_t n, T* x) {
  for (int64_t j = 0; j < n; ++j) x[j * step] = Round<T>(r[j], kImag ? i[j] : 0);
}

constexpr int64_t kAhead = 64;  // Elements.

template <typename T, int64_t kLanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(kLanes * sizeof(T))));
};

// Which lanes of two vectors, the second one's from kLanes on, stand where when those are exchanged that differ in one bit.
template <int64_t kLanes>
struct Exchanges {
  int64_t low[kLanes][kLanes] = {}, high[kLanes][kLanes] = {};  // By bit: 1, 2, 4.

  constexpr Exchanges() {
    for (int64_t bit = 1; bit < kLanes; bit *= 2) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        low[bit][lane] = (lane & bit) != 0 ? lane - bit + kLanes : lane;
        high[bit][lane] = (lane & bit) != 0 ? lane + kLanes : lane + bit;
      }
    }
  }
};
template <int64_t kLanes>
inline constexpr Exchanges<kLanes> kExchanges;

// rows[j] lane i = rows[i] lane j: for every bit of a lane's number, lanes and rows that differ in it are exchanged.
template <int64_t kLanes>
[[gnu::always_inline]] inline void TransposeLanes(double (*rows)[kLanes]) {
  if constexpr (kLanes > 1) {
    using Vector = typename VectorOf<double, kLanes>::type;
    using Places = typename VectorOf<int64_t, kLanes>::type;
    Vector v[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) std::memcpy(&v[i], rows[i], sizeof(Vector));
#pragma GCC unroll 3
    for (int64_t bit = 1; bit < kLanes; bit *= 2) {
      Places low, high;
      std::memcpy(&low, kExchanges<kLanes>.low[bit], sizeof(low));
      std::memcpy(&high, kExchanges<kLanes>.high[bit], sizeof(high));
#pragma GCC unroll 8
      for (int64_t i = 0; i < kLanes; ++i) {
        if ((i & bit) != 0) continue;
        const Vector a = v[i], b = v[i + bit];
        v[i] = __builtin_shuffle(a, b, low);
        v[i + bit] = __builtin_shuffle(a, b, high);
      }
    }
    for (int64_t i = 0; i < kLanes; ++i) std::memcpy(rows[i], &v[i], sizeof(Vector));
  }
}

// The first n elements of the lines. Lanes without a line get 0.
template <int64_t kLanes, bool kImag, typename T>
void ReadLanes(const T* in, const Lines<kLanes>& lines, int64_t n, double* to) {
  constexpr int64_t kRow = kImag ? 2 * kLanes : kLanes;
  if constexpr (kLanes == 1) {
    for (int64_t k = 0; k < n; ++k)
      Split<kImag>(in + lines.offsets[0] + k * lines.step, 1, 1, to + k * kRow, to + k * kRow + 1);
    return;
  }
  if (lines.count < kLanes) std::fill_n(to, n * kRow, 0);
  if (lines.beside_each_other()) {
    const T* x = in + lines.offsets[0];
    for (int64_t k = 0; k < n; ++k, x += lines.step, to += kRow) {
      if (lines.count == kLanes) {
        Split<kImag>(x, 1, kLanes, to, to + kLanes);
      } else {
        Split<kImag>(x, 1, lines.count, to, to + kLanes);
      }
    }
    return;
  }
  alignas(64) double r[kLanes][kLanes] = {}, i[kLanes][kLanes] = {};
  for (int64_t first = 0; first < n; first += kLanes) {
    const int64_t count = std::min(kLanes, n - first);
    for (int64_t l = 0; l < lines.count; ++l) {
      const T* x = in + lines.offsets[l] + first * lines.step;
      __builtin_prefetch(x + kAhead * lines.step);  // The processor does not see that each line goes on.
      if (lines.step == 1 && count == kLanes) {
        Split<kImag>(x, 1, kLanes, r[l], i[l]);
      } else {
        Split<kImag>(x, lines.step, count, r[l], i[l]);
      }
    }
    for (int64_t l = lines.count; l < kLanes; ++l) std::fill_n(r[l], kLanes, 0), std::fill_n(i[l], kLanes, 0);
    TransposeLanes<kLanes>(r);
    if constexpr (kImag) TransposeLanes<kLanes>(i);
    for (int64_t j = 0; j < count; ++j) {
      std::memcpy(to + (first + j) * kRow, r[j], sizeof(r[j]));
      if constexpr (kImag) std::memcpy(to + (first + j) * kRow + kLanes, i[j], sizeof(i[j]));
    }
  }
}

// The opposite.
template <int64_t kLanes, bool kImag, typename T>
void WriteLanes(const double* from, const Lines<kLanes>& lines, int64_t n, T* out) {
  constexpr int64_t kRow = kImag ? 2 * kLanes : kLanes;
  if constexpr (kLanes == 1) {
    for (int64_t k = 0; k < n; ++k)
      Join<kImag>(from + k * kRow, from + k * kRow + 1, 1, 1, out + lines.offsets[0] + k * lines.step);
    return;
  }
  if (lines.beside_each_other()) {
    T* x = out + lines.offsets[0];
    for (int64_t k = 0; k < n; ++k, x += lines.step, from += kRow) {
      if (lines.count == kLanes) {
        Join<kImag>(from, from + kLanes, 1, kLanes, x);
      } else {
        Join<kImag>(from, from + kLanes, 1, lines.count, x);
      }
    }
    return;
  }
  alignas(64) double r[kLanes][kLanes] = {}, i[kLanes][kLanes] = {};
  for (int64_t first = 0; first < n; first += kLanes) {
    const int64_t count = std::min(kLanes, n - first);
    for (int64_t j = 0; j < count; ++j) {
      std::memcpy(r[j], from + (first + j) * kRow, sizeof(r[j]));
      if constexpr (kImag) std::memcpy(i[j], from + (first + j) * kRow + kLanes, sizeof(i[j]));
    }
    TransposeLanes<kLanes>(r);
    if constexpr (kImag) TransposeLanes<kLanes>(i);
    for (int64_t l = 0; l < lines.count; ++l) {
      T* x = out + lines.offsets[l] + first * lines.step;
      if (lines.step == 1 && count == kLanes) {
        Join<kImag>(r[l], i[l], 1, kLanes, x);
      } else {
        Join<kImag>(r[l], i[l], lines.step, count, x);
      }
    }
  }
}

}  // namespace toroid::TOROID_LEVEL
