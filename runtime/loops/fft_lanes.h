// Moves lines of an array into vectors, a line in each lane, and back, for fft_lines.
//
// Element k of kLanes lines is `row` doubles: kLanes real parts, and, if kImag, kLanes imaginary parts.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

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

template <typename T, int64_t kLanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(kLanes * sizeof(T))));
};

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

// Places in two vectors, the second one's from kLanes on: every other lane of both, and lanes of both in turn.
template <int64_t kLanes>
struct Turns {
  int64_t even[kLanes] = {}, odd[kLanes] = {}, first[kLanes] = {}, last[kLanes] = {};

  constexpr Turns() {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      even[lane] = 2 * lane;
      odd[lane] = 2 * lane + 1;
      first[lane] = lane / 2 + lane % 2 * kLanes;
      last[lane] = first[lane] + kLanes / 2;
    }
  }
};
template <int64_t kLanes>
inline constexpr Turns<kLanes> kTurns;

template <typename Part, int64_t kLanes, typename V = typename VectorOf<Part, kLanes>::type>
[[gnu::always_inline]] inline V Shuffle(V a, V b, const int64_t (&places)[kLanes]) {
  typename VectorOf<std::conditional_t<sizeof(Part) == 4, int32_t, int64_t>, kLanes>::type lanes;
#pragma GCC unroll 8
  for (int64_t l = 0; l < kLanes; ++l) lanes[l] = places[l];
  return __builtin_shuffle(a, b, lanes);
}

template <typename T>
struct PartOf {
  using type = T;
};
template <typename R>
struct PartOf<std::complex<R>> {
  using type = R;
};

// Split and Join of kLanes elements that follow one another.
template <int64_t kLanes, bool kImag, typename T>
[[gnu::always_inline]] inline void SplitLanes(const T* x, double* r, double* i) {
  using Part = typename PartOf<T>::type;
  using Vector = typename VectorOf<Part, kLanes>::type;
  using Doubles = typename VectorOf<double, kLanes>::type;
  Vector a, b = {};
  std::memcpy(&a, x, sizeof(a));
  if constexpr (kIsComplex<T>) {
    std::memcpy(&b, reinterpret_cast<const char*>(x) + sizeof(a), sizeof(b));
    const Vector real = Shuffle<Part, kLanes>(a, b, kTurns<kLanes>.even);
    b = Shuffle<Part, kLanes>(a, b, kTurns<kLanes>.odd);
    a = real;
  }
  const Doubles real = __builtin_convertvector(a, Doubles), imag = __builtin_convertvector(b, Doubles);
  std::memcpy(r, &real, sizeof(real));
  if constexpr (kImag) std::memcpy(i, &imag, sizeof(imag));
}
template <int64_t kLanes, bool kImag, typename T>
[[gnu::always_inline]] inline void JoinLanes(const double* r, const double* i, T* x) {
  using Part = typename PartOf<T>::type;
  using Vector = typename VectorOf<Part, kLanes>::type;
  typename VectorOf<double, kLanes>::type real, imag = {};
  std::memcpy(&real, r, sizeof(real));
  if constexpr (kImag) std::memcpy(&imag, i, sizeof(imag));
  const Vector a = __builtin_convertvector(real, Vector), b = __builtin_convertvector(imag, Vector);
  if constexpr (kIsComplex<T>) {
    const Vector first = Shuffle<Part, kLanes>(a, b, kTurns<kLanes>.first),
                 last = Shuffle<Part, kLanes>(a, b, kTurns<kLanes>.last);
    std::memcpy(static_cast<void*>(x), &first, sizeof(first));
    std::memcpy(reinterpret_cast<char*>(x) + sizeof(first), &last, sizeof(last));
  } else {
    std::memcpy(x, &a, sizeof(a));
  }
}

constexpr int64_t kAhead = 64;  // Elements.

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

// v[j] lane i = v[i] lane j: for every bit of a lane's number, lanes and vectors that differ in it are exchanged.
template <int64_t kLanes>
[[gnu::always_inline]] inline void TransposeVectors(typename VectorOf<double, kLanes>::type (&v)[kLanes]) {
  using Vector = typename VectorOf<double, kLanes>::type;
#pragma GCC unroll 3
  for (int64_t bit = 1; bit < kLanes; bit *= 2) {
    typename VectorOf<int64_t, kLanes>::type low, high;
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
}
// The same of rows in memory.
template <int64_t kLanes>
void TransposeRows(double (&rows)[kLanes][kLanes]) {
  typename VectorOf<double, kLanes>::type v[kLanes];
  std::memcpy(v, rows, sizeof(v));
  TransposeVectors<kLanes>(v);
  std::memcpy(rows, v, sizeof(v));
}

// kLanes elements, that follow one another, of kLanes lines, and back.
template <int64_t kLanes, bool kImag, typename T>
[[gnu::always_inline]] inline void ReadBlock(const T* in, const Lines<kLanes>& lines, int64_t first,
                                             double* to) {
  typename VectorOf<double, kLanes>::type r[kLanes], i[kLanes];
#pragma GCC unroll 8
  for (int64_t l = 0; l < kLanes; ++l) {
    const T* x = in + lines.offsets[l] + first;
    __builtin_prefetch(x + kAhead);  // The processor does not see that each line goes on.
    SplitLanes<kLanes, kImag>(x, reinterpret_cast<double*>(&r[l]), reinterpret_cast<double*>(&i[l]));
  }
  TransposeVectors<kLanes>(r);
  if constexpr (kImag) TransposeVectors<kLanes>(i);
#pragma GCC unroll 8
  for (int64_t j = 0; j < kLanes; ++j) {
    double* row = to + j * (kImag ? 2 : 1) * kLanes;
    std::memcpy(row, &r[j], sizeof(r[j]));
    if constexpr (kImag) std::memcpy(row + kLanes, &i[j], sizeof(i[j]));
  }
}
template <int64_t kLanes, bool kImag, typename T>
[[gnu::always_inline]] inline void WriteBlock(const double* from, const Lines<kLanes>& lines, int64_t first,
                                              T* out) {
  typename VectorOf<double, kLanes>::type r[kLanes], i[kLanes];
#pragma GCC unroll 8
  for (int64_t j = 0; j < kLanes; ++j) {
    const double* row = from + j * (kImag ? 2 : 1) * kLanes;
    std::memcpy(&r[j], row, sizeof(r[j]));
    if constexpr (kImag) std::memcpy(&i[j], row + kLanes, sizeof(i[j]));
  }
  TransposeVectors<kLanes>(r);
  if constexpr (kImag) TransposeVectors<kLanes>(i);
#pragma GCC unroll 8
  for (int64_t l = 0; l < kLanes; ++l) {
    JoinLanes<kLanes, kImag>(reinterpret_cast<const double*>(&r[l]), reinterpret_cast<const double*>(&i[l]),
                             out + lines.offsets[l] + first);
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
        SplitLanes<kLanes, kImag>(x, to, to + kLanes);
      } else {
        Split<kImag>(x, 1, lines.count, to, to + kLanes);
      }
    }
    return;
  }
  const bool whole = lines.step == 1 && lines.count == kLanes;
  alignas(64) double r[kLanes][kLanes] = {}, i[kLanes][kLanes] = {};
  for (int64_t first = 0; first < n; first += kLanes) {
    const int64_t count = std::min(kLanes, n - first);
    if (whole && count == kLanes) {
      ReadBlock<kLanes, kImag>(in, lines, first, to + first * kRow);
      continue;
    }
    for (int64_t l = 0; l < lines.count; ++l) {
      const T* x = in + lines.offsets[l] + first * lines.step;
      __builtin_prefetch(x + kAhead * lines.step);
      Split<kImag>(x, lines.step, count, r[l], i[l]);
    }
    for (int64_t l = lines.count; l < kLanes; ++l) std::fill_n(r[l], kLanes, 0), std::fill_n(i[l], kLanes, 0);
    TransposeRows<kLanes>(r);
    if constexpr (kImag) TransposeRows<kLanes>(i);
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
        JoinLanes<kLanes, kImag>(from, from + kLanes, x);
      } else {
        Join<kImag>(from, from + kLanes, 1, lines.count, x);
      }
    }
    return;
  }
  const bool whole = lines.step == 1 && lines.count == kLanes;
  alignas(64) double r[kLanes][kLanes] = {}, i[kLanes][kLanes] = {};
  for (int64_t first = 0; first < n; first += kLanes) {
    const int64_t count = std::min(kLanes, n - first);
    if (whole && count == kLanes) {
      WriteBlock<kLanes, kImag>(from + first * kRow, lines, first, out);
      continue;
    }
    for (int64_t j = 0; j < count; ++j) {
      std::memcpy(r[j], from + (first + j) * kRow, sizeof(r[j]));
      if constexpr (kImag) std::memcpy(i[j], from + (first + j) * kRow + kLanes, sizeof(i[j]));
    }
    TransposeRows<kLanes>(r);
    if constexpr (kImag) TransposeRows<kLanes>(i);
    for (int64_t l = 0; l < lines.count; ++l) {
      Join<kImag>(r[l], i[l], lines.step, count, out + lines.offsets[l] + first * lines.step);
    }
  }
}

}  // namespace toroid::TOROID_LEVEL
