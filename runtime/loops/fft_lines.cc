// BUILD: per_level
// BUILD: copts = ["-fno-tree-vectorize"]
#include "runtime/loops/fft_lines.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#define POCKETFFT_NO_MULTITHREADING
#include "hlo/ir/native_types.h"
#include "pocketfft_hdronly.h"
#include "runtime/loops/fft_lanes.h"
#include "runtime/loops/thread_pool.h"

namespace toroid::TOROID_LEVEL {
namespace {

using pocketfft::detail::cmplx;
using pocketfft::detail::pocketfft_c;
using pocketfft::detail::pocketfft_r;
using Vector = pocketfft::detail::vtype_t<double>;
using Complex = std::complex<double>;

constexpr int64_t kLanes = pocketfft::detail::VLEN<double>::val;
constexpr int64_t kLongLine = int64_t{1} << 14;
constexpr int64_t kLeastFactor = 16;  // Two vectors of any level: all levels cut a line the same way.
constexpr int64_t kMostFactor = int64_t{1} << 16;  // Of a long line.
constexpr int64_t kTile = 64;         // Elements of a line whose lanes stay in the first-level cache.
constexpr int64_t kGrain = 16 << 10;  // Elements.

// Memory for vectors.
template <typename T>
class Buffer {
 public:
  explicit Buffer(int64_t n)
      : data_(static_cast<T*>(std::aligned_alloc(64, (n * sizeof(T) + 63) / 64 * 64))) {}
  T* get() const { return data_.get(); }
  T& operator[](int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
};

// The larger of two factors of n that are as near as possible; 0 if the smaller one has no use.
int64_t LargeFactor(int64_t n) {
  int64_t small = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % small != 0) --small;
  return small >= kLeastFactor && n / small <= kMostFactor ? n / small : 0;
}

// A double is its own only lane.
template <typename V>
constexpr int64_t kLanesOf = std::is_same_v<V, double> ? 1 : kLanes;

// Lines whose first elements are `apart` from each other.
Lines<kLanes> LinesFrom(int64_t first, int64_t apart, int64_t count, int64_t step) {
  Lines<kLanes> lines;
  lines.count = count;
  lines.step = step;
  for (int64_t l = 0; l < count; ++l) lines.offsets[l] = first + l * apart;
  return lines;
}

// to[j] lane i = from[i] lane j for i < rows, j < columns, which are at most kLanes; 0 in other lanes.
void Transpose(const cmplx<Vector>* from, int64_t rows, int64_t columns, cmplx<Vector>* to) {
  typename VectorOf<double, kLanes>::type r[kLanes] = {}, i[kLanes] = {};
  const auto exchange = [&](int64_t n, int64_t m) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int64_t row = 0; row < n; ++row) {
      std::memcpy(&r[row], &from[row].r, sizeof(Vector));
      std::memcpy(&i[row], &from[row].i, sizeof(Vector));
    }
    TransposeVectors<kLanes>(r);
    TransposeVectors<kLanes>(i);
#pragma GCC unroll 8
    for (int64_t j = 0; j < m; ++j) {
      std::memcpy(&to[j].r, &r[j], sizeof(Vector));
      std::memcpy(&to[j].i, &i[j], sizeof(Vector));
    }
  };
  if (rows == kLanes && columns == kLanes) {
    exchange(kLanes, kLanes);
  } else {
    exchange(rows, columns);
  }
}

// n2 of a long line; 0 for other lines.
int64_t LongLineFactor(int64_t n) { return n >= kLongLine ? LargeFactor(n) : 0; }

// Whether pocketfft may transform lines of n elements by Bluestein's convolution.
bool UsesBluestein(int64_t n) {
  const auto prime = static_cast<int64_t>(pocketfft::detail::util::largest_prime_factor(n));
  return prime * prime > n;
}

// Of the sums over j1 of a line of n1 * n2 elements.
int64_t SumsBytes(int64_t n1, int64_t n2) {
  return n1 * ((n2 + kLanes - 1) / kLanes) * kLanes * static_cast<int64_t>(sizeof(Complex));
}

// Beside those: of the buffers of a line of n elements, or of n2 of a long one (n2 > 0).
int64_t BuffersBytes(int64_t n, int64_t n2, int threads) {
  // A buffer of pocketfft has the size of ours; Bluestein's, for lengths with a large prime factor, has up to four times that.
  const int64_t length = n2 > 0 ? n2 : n, width = kLanes * static_cast<int64_t>(sizeof(Complex));
  const int64_t per_thread = UsesBluestein(length) ? 6 : 2;
  return ((n2 > 0 ? 8 / kLanes * (n / n2) : 0) + threads * per_thread * length) * width;
}

class FftLinesOfLevel : public FftLines {
 public:
  FftLinesOfLevel(Kind kind, int64_t n);

  int64_t in_length() const override { return kind_ == Kind::kRealInverse ? n_ / 2 + 1 : n_; }
  int64_t out_length() const override { return kind_ == Kind::kRealForward ? n_ / 2 + 1 : n_; }
  void Run(PrimitiveType from, PrimitiveType to, int64_t outer, int64_t inner, const char* in, char* out,
           char* work) const override;
  int64_t WorkBytes() const override;
  int64_t ScratchBytes(int threads) const override;

 private:
  template <typename From, typename To>
  void RunOn(int64_t outer, int64_t inner, const From* in, To* out, char* work) const;
  template <typename V, typename From, typename To>
  void Short(const Lines<kLanesOf<V>>& from, const Lines<kLanesOf<V>>& to, const From* in, To* out) const;
  template <typename From, typename To>
  void Long(int64_t step, const From* in, To* out, char* work) const;

  bool forward() const { return kind_ == Kind::kForward || kind_ == Kind::kRealForward; }
  double scale() const { return forward() ? 1 : 1 / static_cast<double>(n_); }

  const Kind kind_;
  const int64_t n_;
  std::unique_ptr<pocketfft_c<double>> whole_, columns_, rows_;  // Of n; of n1 and n2 of a long line.
  std::unique_ptr<pocketfft_r<double>> real_;
  std::unique_ptr<pocketfft::detail::sincos_2pibyn<double>> turns_;
  int64_t n1_ = 0, n2_ = 0;
};

// Transforms the lines of a vector at once.
template <typename V, typename From, typename To>
void FftLinesOfLevel::Short(const Lines<kLanesOf<V>>& from, const Lines<kLanesOf<V>>& to, const From* in,
                            To* out) const {
  constexpr int64_t kL = kLanesOf<V>;
  const int64_t n = n_;
  // Complex numbers; or real ones, and as pocketfft orders those of a spectrum: the real part of X[0], the real and the
  // imaginary part of X[1], .., and if n is even the real part of X[n / 2].
  const Buffer<V> buffer(2 * n);
  double* values = reinterpret_cast<double*>(buffer.get());
  const int64_t pairs = (n - 1) / 2;
  const bool has_middle = n % 2 == 0;
  double ends[2 * kL];
  if constexpr (!kIsComplex<From>) {
    ReadLanes<kL, false>(in, from, n, values);
    real_->exec(buffer.get(), scale(), forward());
  } else if constexpr (!kIsComplex<To>) {
    ReadLanes<kL, true>(in, from, 1, ends);
    std::copy_n(ends, kL, values);
    ReadLanes<kL, true>(in, from.From(1), pairs, values + kL);
    if (has_middle) {
      ReadLanes<kL, true>(in, from.From(n / 2), 1, ends);
      std::copy_n(ends, kL, values + (n - 1) * kL);
    }
    real_->exec(buffer.get(), scale(), forward());
  } else {
    ReadLanes<kL, true>(in, from, n, values);
    whole_->exec(reinterpret_cast<cmplx<V>*>(buffer.get()), scale(), forward());
  }
  if constexpr (!kIsComplex<From>) {
    WriteLanes<kL, false>(values, to, 1, out);
    WriteLanes<kL, true>(values + kL, to.From(1), pairs, out);
    if (has_middle) WriteLanes<kL, false>(values + (n - 1) * kL, to.From(n / 2), 1, out);
  } else if constexpr (!kIsComplex<To>) {
    WriteLanes<kL, false>(values, to, n, out);
  } else {
    WriteLanes<kL, true>(values, to, n, out);
  }
}

// Transforms one line of n1 * n2 elements. With j = j1 n2 + j2 and k = k1 + n1 k2,
//   X[k] = sum over j2 of w(j2 k2 n1) w(j2 k1) (sum over j1 of w(j1 k1 n2) x[j]),   w(m) = exp(-+2 pi i m / n).
template <typename From, typename To>
void FftLinesOfLevel::Long(int64_t step, const From* in, To* out, char* work) const {
  const int64_t n1 = n1_, n2 = n2_, n = n_, column_blocks = (n2 + kLanes - 1) / kLanes,
                row_blocks = (n1 + kLanes - 1) / kLanes;
  const int64_t column_grain = std::max<int64_t>(1, kGrain / (n1 * kLanes));
  const int64_t row_grain = std::max<int64_t>(1, kGrain / (n2 * kLanes));
  const double sign = forward() ? -1 : 1;
  // w(l k1) of the lanes of a block, and the sums over j1: [column_blocks][n1][kLanes], whose lanes are j2.
  // A turn is the product of two, of a multiple of kTurns and of the rest, on all levels.
  constexpr int64_t kTurns = 8, kParts = kTurns / kLanes;
  const Buffer<cmplx<Vector>> lane_turns(kParts * n1);
  cmplx<Vector>* between = reinterpret_cast<cmplx<Vector>*>(work);
  for (int64_t k1 = 0; k1 < n1; ++k1) {
    for (int64_t l = 0; l < kTurns; ++l) {
      const cmplx<double> turn = (*turns_)[l * k1 % n];
      cmplx<Vector>& lanes = lane_turns[l / kLanes * n1 + k1];
      lanes.r[l % kLanes] = turn.r;
      lanes.i[l % kLanes] = sign * turn.i;
    }
  }
  ParallelFor(column_blocks, column_grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      cmplx<Vector>* values = &between[block * n1];
      const int64_t first = block * kLanes, count = std::min(kLanes, n2 - first);
      if constexpr (kIsComplex<From> && !kIsComplex<To>) {
        for (int64_t j1 = 0; j1 < n1; ++j1) {
          values[j1] = cmplx<Vector>(Vector{}, Vector{});
          for (int64_t l = 0; l < count; ++l) {
            // The second half of the spectrum of real numbers mirrors the first.
            const int64_t j = j1 * n2 + first + l;
            const Complex x = 2 * j > n ? std::conj(Widen(in[(n - j) * step])) : Widen(in[j * step]);
            values[j1].r[l] = x.real();
            values[j1].i[l] = x.imag();
          }
        }
      } else {
        ReadLanes<kLanes, true>(in, LinesFrom(first * step, step, count, n2 * step), n1,
                                reinterpret_cast<double*>(values));
      }
      columns_->exec(values, 1, forward());
      for (int64_t k1 = 0; k1 < n1; ++k1) {
        const cmplx<double> turn = (*turns_)[first / kTurns * kTurns * k1 % n];
        const double r = turn.r, i = sign * turn.i;
        const cmplx<Vector> lanes = lane_turns[block % kParts * n1 + k1], x = values[k1];
        const Vector wr = r * lanes.r - i * lanes.i, wi = r * lanes.i + i * lanes.r;
        values[k1].r = x.r * wr - x.i * wi;
        values[k1].i = x.r * wi + x.i * wr;
      }
    }
  });
  ParallelFor(row_blocks, row_grain, [&](int64_t begin, int64_t end) {
    const Buffer<cmplx<Vector>> values(n2);
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kLanes, count = std::min(kLanes, n1 - first);
      if (count < kLanes) std::fill(values.get(), values.get() + n2, cmplx<Vector>(Vector{}, Vector{}));
      for (int64_t j2 = 0; j2 < n2; j2 += kLanes) {
        Transpose(&between[j2 / kLanes * n1 + first], count, std::min(kLanes, n2 - j2), &values[j2]);
      }
      rows_->exec(values.get(), scale(), forward());
      if constexpr (kIsComplex<To> && !kIsComplex<From>) {
        for (int64_t k2 = 0; k2 < n2; ++k2) {
          const int64_t k = k2 * n1 + first, end_of_row = std::min(count, n / 2 + 1 - k);
          for (int64_t l = 0; l < end_of_row; ++l)
            out[(k + l) * step] = Round<To>(values[k2].r[l], values[k2].i[l]);
        }
      } else {
        WriteLanes<kLanes, true>(reinterpret_cast<const double*>(values.get()),
                                 LinesFrom(first * step, step, count, n1 * step), n2, out);
      }
    }
  });
}

template <typename From, typename To>
void FftLinesOfLevel::RunOn(int64_t outer, int64_t inner, const From* in, To* out, char* work) const {
  const int64_t lines = outer * inner;
  if (n1_ != 0) {
    for (int64_t line = 0; line < lines; ++line) {
      Long(inner, in + line / inner * in_length() * inner + line % inner,
           out + line / inner * out_length() * inner + line % inner, work);
    }
    return;
  }
  const int64_t blocks = (lines + kLanes - 1) / kLanes;
  ParallelFor(blocks, std::max<int64_t>(1, kGrain / (n_ * kLanes)), [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kLanes, count = std::min(kLanes, lines - first);
      Lines<kLanes> from, to;
      from.step = to.step = inner;
      from.count = to.count = count;
      for (int64_t l = 0; l < count; ++l) {
        const int64_t o = (first + l) / inner, i = (first + l) % inner;
        from.offsets[l] = o * in_length() * inner + i;
        to.offsets[l] = o * out_length() * inner + i;
      }
      if (count > 1 && count >= kLanes / 2) {
        Short<Vector>(from, to, in, out);
        continue;
      }
      for (int64_t l = 0; l < count; ++l) {
        Short<double>({{from.offsets[l]}, 1, inner}, {{to.offsets[l]}, 1, inner}, in, out);
      }
    }
  });
}

FftLinesOfLevel::FftLinesOfLevel(Kind kind, int64_t n) : kind_(kind), n_(n) {
  const int64_t large = LongLineFactor(n);
  if (large != 0) {
    n2_ = large;
    n1_ = n / large;
    columns_ = std::make_unique<pocketfft_c<double>>(n1_);
    rows_ = std::make_unique<pocketfft_c<double>>(n2_);
    turns_ = std::make_unique<pocketfft::detail::sincos_2pibyn<double>>(n);
  } else if (kind == Kind::kForward || kind == Kind::kInverse) {
    whole_ = std::make_unique<pocketfft_c<double>>(n);
  } else {
    real_ = std::make_unique<pocketfft_r<double>>(n);
  }
}

int64_t FftLinesOfLevel::ScratchBytes(int threads) const { return BuffersBytes(n_, n2_, threads); }

int64_t FftLinesOfLevel::WorkBytes() const { return SumsBytes(n1_, n2_); }

void FftLinesOfLevel::Run(PrimitiveType from, PrimitiveType to, int64_t outer, int64_t inner, const char* in,
                          char* out, char* work) const {
  const auto run = [&](auto from_tag, auto to_tag) {
    using From = decltype(from_tag);
    using To = decltype(to_tag);
    RunOn(outer, inner, reinterpret_cast<const From*>(in), reinterpret_cast<To*>(out), work);
  };
  using C64 = std::complex<float>;
  const bool wide_in = from == xla::C128 || from == xla::F64, wide_out = to == xla::C128 || to == xla::F64;
  switch (kind_) {
    case Kind::kForward:
    case Kind::kInverse:
      if (wide_in) return wide_out ? run(Complex(), Complex()) : run(Complex(), C64());
      return wide_out ? run(C64(), Complex()) : run(C64(), C64());
    case Kind::kRealForward:
      if (wide_in) return wide_out ? run(0.0, Complex()) : run(0.0, C64());
      return wide_out ? run(0.0f, Complex()) : run(0.0f, C64());
    case Kind::kRealInverse:
      if (wide_in) return wide_out ? run(Complex(), 0.0) : run(Complex(), 0.0f);
      return wide_out ? run(C64(), 0.0) : run(C64(), 0.0f);
  }
}

}  // namespace

std::unique_ptr<const FftLines> MakeFftLines(FftLines::Kind kind, int64_t n) {
  return std::make_unique<FftLinesOfLevel>(kind, n);
}

int64_t FftTableBytes(int64_t n) {
  // Turns of a line, twice; for Bluestein's convolution also those of its length, and the chirps.
  const auto bytes_of = [](int64_t length) { return length * (UsesBluestein(length) ? 120 : 32); };
  const int64_t n2 = LongLineFactor(n);
  if (n2 == 0) return bytes_of(n);
  const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  return bytes_of(n / n2) + bytes_of(n2) + 4 * root * static_cast<int64_t>(sizeof(Complex));
}

int64_t FftBytes(int64_t n, int threads) {
  const int64_t n2 = LongLineFactor(n);
  return BuffersBytes(n, n2, threads) + (n2 == 0 ? 0 : SumsBytes(n / n2, n2));
}

}  // namespace toroid::TOROID_LEVEL
