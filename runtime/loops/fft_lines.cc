// BUILD: copts = ["-O3"]
#include "runtime/loops/fft_lines.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <type_traits>
#include <vector>

#define POCKETFFT_NO_MULTITHREADING
#include "hlo/ir/native_types.h"
#include "pocketfft_hdronly.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

using pocketfft::detail::cmplx;
using pocketfft::detail::pocketfft_c;
using pocketfft::detail::pocketfft_r;
using Vector = pocketfft::detail::vtype_t<double>;
using Complex = std::complex<double>;

constexpr int64_t kLanes = pocketfft::detail::VLEN<double>::val;
constexpr int64_t kLongLine = int64_t{1} << 14;
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
  return small >= 2 * kLanes && n / small <= kMostFactor ? n / small : 0;
}

// Lanes of a vector; a double is its own only lane.
template <typename V>
constexpr int64_t kLanesOf = std::is_same_v<V, double> ? 1 : kLanes;

template <typename V>
double GetLane(const V& v, int64_t l) {
  if constexpr (std::is_same_v<V, double>) {
    return v;
  } else {
    return v[l];
  }
}

template <typename V>
void SetLane(V& v, int64_t l, double x) {
  if constexpr (std::is_same_v<V, double>) {
    v = x;
  } else {
    v[l] = x;
  }
}

template <typename T>
Complex Widen(T x) {
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

// Up to kLanes lines of an array: where element 0 of each is, and how far elements are apart.
struct Lines {
  int64_t offsets[kLanes];
  int64_t count;
  int64_t step;

  bool beside_each_other() const { return step != 1 && offsets[count - 1] == offsets[0] + count - 1; }
};

// Calls visit(k, l) for element k < n of line l, in an order that is good for the caches.
template <typename Visit>
void ForEachElement(const Lines& lines, int64_t n, Visit&& visit) {
  if (lines.beside_each_other()) {
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t l = 0; l < lines.count; ++l) visit(k, l);
    }
    return;
  }
  for (int64_t first = 0; first < n; first += kTile) {
    const int64_t end = std::min(n, first + kTile);
    for (int64_t l = 0; l < lines.count; ++l) {
      for (int64_t k = first; k < end; ++k) visit(k, l);
    }
  }
}

// to[j] lane i = from[i] lane j for i < rows, j < columns, which are at most kLanes.
void Transpose(const cmplx<Vector>* from, int64_t rows, int64_t columns, cmplx<Vector>* to) {
  const double* x = reinterpret_cast<const double*>(from);
  double* y = reinterpret_cast<double*>(to);
  constexpr int64_t kRow = 2 * kLanes;  // Real parts, then imaginary parts.
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      y[j * kRow + i] = x[i * kRow + j];
      y[j * kRow + kLanes + i] = x[i * kRow + kLanes + j];
    }
  }
}

}  // namespace

struct FftLines::Plans {
  std::unique_ptr<pocketfft_c<double>> whole, columns, rows;  // Of n; of n1 and n2 of a long line.
  std::unique_ptr<pocketfft_r<double>> real;
  std::unique_ptr<pocketfft::detail::sincos_2pibyn<double>> turns;
  int64_t n1 = 0, n2 = 0;

  template <typename From, typename To>
  void Run(Kind kind, int64_t n, int64_t outer, int64_t inner, const From* in, To* out, char* work) const;

 private:
  template <typename V, typename From, typename To>
  void Short(Kind kind, int64_t n, const Lines& from, const Lines& to, const From* in, To* out) const;
  template <typename From, typename To>
  void Long(Kind kind, int64_t step, const From* in, To* out, char* work) const;
};

// Transforms the lines of a vector at once.
template <typename V, typename From, typename To>
void FftLines::Plans::Short(Kind kind, int64_t n, const Lines& from, const Lines& to, const From* in,
                            To* out) const {
  const bool forward = kind == Kind::kForward || kind == Kind::kRealForward;
  const double scale = forward ? 1 : 1 / static_cast<double>(n);
  // Real numbers n, or complex ones.
  const Buffer<V> buffer(2 * n);
  V* reals = buffer.get();
  cmplx<V>* values = reinterpret_cast<cmplx<V>*>(reals);
  // Lanes without a line would be numbers that were never set.
  if (from.count < kLanesOf<V>) std::fill(reals, reals + 2 * n, V{});
  if constexpr (!kIsComplex<From>) {
    ForEachElement(from, n, [&](int64_t k, int64_t l) {
      SetLane(reals[k], l, static_cast<double>(in[from.offsets[l] + k * from.step]));
    });
    real->exec(reals, scale, forward);
  } else if constexpr (!kIsComplex<To>) {
    // The order of pocketfft: the real part of X[0], then the real and the imaginary part of X[1], ..
    ForEachElement(from, n / 2 + 1, [&](int64_t k, int64_t l) {
      const Complex x = Widen(in[from.offsets[l] + k * from.step]);
      SetLane(reals[k == 0 ? 0 : 2 * k - 1], l, x.real());
      if (k > 0 && 2 * k < n) SetLane(reals[2 * k], l, x.imag());
    });
    real->exec(reals, scale, forward);
  } else {
    ForEachElement(from, n, [&](int64_t k, int64_t l) {
      const Complex x = Widen(in[from.offsets[l] + k * from.step]);
      SetLane(values[k].r, l, x.real());
      SetLane(values[k].i, l, x.imag());
    });
    whole->exec(values, scale, forward);
  }
  if constexpr (!kIsComplex<From>) {
    ForEachElement(to, n / 2 + 1, [&](int64_t k, int64_t l) {
      const double r = GetLane(reals[k == 0 ? 0 : 2 * k - 1], l),
                   i = k > 0 && 2 * k < n ? GetLane(reals[2 * k], l) : 0;
      out[to.offsets[l] + k * to.step] = Round<To>(r, i);
    });
  } else if constexpr (!kIsComplex<To>) {
    ForEachElement(to, n, [&](int64_t k, int64_t l) {
      out[to.offsets[l] + k * to.step] = Round<To>(GetLane(reals[k], l), 0);
    });
  } else {
    ForEachElement(to, n, [&](int64_t k, int64_t l) {
      out[to.offsets[l] + k * to.step] = Round<To>(GetLane(values[k].r, l), GetLane(values[k].i, l));
    });
  }
}

// Transforms one line of n1 * n2 elements. With j = j1 n2 + j2 and k = k1 + n1 k2,
//   X[k] = sum over j2 of w(j2 k2 n1) w(j2 k1) (sum over j1 of w(j1 k1 n2) x[j]),   w(m) = exp(-+2 pi i m / n).
template <typename From, typename To>
void FftLines::Plans::Long(Kind kind, int64_t step, const From* in, To* out, char* work) const {
  const bool forward = kind == Kind::kForward || kind == Kind::kRealForward;
  const int64_t n = n1 * n2, column_blocks = (n2 + kLanes - 1) / kLanes,
                row_blocks = (n1 + kLanes - 1) / kLanes;
  const int64_t column_grain = std::max<int64_t>(1, kGrain / (n1 * kLanes));
  const int64_t row_grain = std::max<int64_t>(1, kGrain / (n2 * kLanes));
  const double scale = forward ? 1 : 1 / static_cast<double>(n), sign = forward ? -1 : 1;
  const auto load = [&](int64_t j) -> Complex {
    // The second half of the spectrum of real numbers mirrors the first.
    if (kIsComplex<From> && !kIsComplex<To> && 2 * j > n) return std::conj(Widen(in[(n - j) * step]));
    return Widen(in[j * step]);
  };
  // w(l k1) of the lanes of a block, and the sums over j1: [column_blocks][n1][kLanes], whose lanes are j2.
  const Buffer<cmplx<Vector>> lane_turns(n1);
  cmplx<Vector>* between = reinterpret_cast<cmplx<Vector>*>(work);
  for (int64_t k1 = 0; k1 < n1; ++k1) {
    for (int64_t l = 0; l < kLanes; ++l) {
      const cmplx<double> turn = (*turns)[l * k1 % n];
      lane_turns[k1].r[l] = turn.r;
      lane_turns[k1].i[l] = sign * turn.i;
    }
  }
  ParallelFor(column_blocks, column_grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      cmplx<Vector>* values = &between[block * n1];
      const int64_t first = block * kLanes, count = std::min(kLanes, n2 - first);
      for (int64_t j1 = 0; j1 < n1; ++j1) {
        if (count < kLanes) values[j1] = cmplx<Vector>(Vector{}, Vector{});
        for (int64_t l = 0; l < count; ++l) {
          const Complex x = load(j1 * n2 + first + l);
          values[j1].r[l] = x.real();
          values[j1].i[l] = x.imag();
        }
      }
      columns->exec(values, 1, forward);
      for (int64_t k1 = 0; k1 < n1; ++k1) {
        const cmplx<double> turn = (*turns)[first * k1 % n];
        const double r = turn.r, i = sign * turn.i;
        const cmplx<Vector> lanes = lane_turns[k1], x = values[k1];
        const Vector wr = r * lanes.r - i * lanes.i, wi = r * lanes.i + i * lanes.r;
        values[k1].r = x.r * wr - x.i * wi;
        values[k1].i = x.r * wi + x.i * wr;
      }
    }
  });
  const int64_t last = kIsComplex<To> && !kIsComplex<From> ? n / 2 + 1 : n;
  ParallelFor(row_blocks, row_grain, [&](int64_t begin, int64_t end) {
    const Buffer<cmplx<Vector>> values(n2);
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kLanes, count = std::min(kLanes, n1 - first);
      if (count < kLanes) std::fill(values.get(), values.get() + n2, cmplx<Vector>(Vector{}, Vector{}));
      for (int64_t j2 = 0; j2 < n2; j2 += kLanes) {
        Transpose(&between[j2 / kLanes * n1 + first], count, std::min(kLanes, n2 - j2), &values[j2]);
      }
      rows->exec(values.get(), scale, forward);
      for (int64_t k2 = 0; k2 < n2; ++k2) {
        const int64_t k = k2 * n1 + first, end_of_row = std::min(count, last - k);
        for (int64_t l = 0; l < end_of_row; ++l) {
          out[(k + l) * step] = Round<To>(values[k2].r[l], values[k2].i[l]);
        }
      }
    }
  });
}

template <typename From, typename To>
void FftLines::Plans::Run(Kind kind, int64_t n, int64_t outer, int64_t inner, const From* in, To* out,
                          char* work) const {
  const int64_t half = n / 2 + 1;
  const int64_t in_length = kind == Kind::kRealInverse ? half : n,
                out_length = kind == Kind::kRealForward ? half : n;
  const int64_t lines = outer * inner;
  if (n1 != 0) {
    for (int64_t line = 0; line < lines; ++line) {
      Long(kind, inner, in + line / inner * in_length * inner + line % inner,
           out + line / inner * out_length * inner + line % inner, work);
    }
    return;
  }
  const int64_t blocks = (lines + kLanes - 1) / kLanes;
  ParallelFor(blocks, std::max<int64_t>(1, kGrain / (n * kLanes)), [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      Lines from, to;
      from.step = to.step = inner;
      from.count = to.count = std::min(kLanes, lines - block * kLanes);
      for (int64_t l = 0; l < from.count; ++l) {
        const int64_t o = (block * kLanes + l) / inner, i = (block * kLanes + l) % inner;
        from.offsets[l] = o * in_length * inner + i;
        to.offsets[l] = o * out_length * inner + i;
      }
      if (from.count > 1 && from.count >= kLanes / 2) {
        Short<Vector>(kind, n, from, to, in, out);
        continue;
      }
      const Lines all_from = from, all_to = to;
      from.count = to.count = 1;
      for (int64_t l = 0; l < all_from.count; ++l) {
        from.offsets[0] = all_from.offsets[l];
        to.offsets[0] = all_to.offsets[l];
        Short<double>(kind, n, from, to, in, out);
      }
    }
  });
}

FftLines::FftLines(Kind kind, int64_t n) : kind_(kind), n_(n), plans_(std::make_unique<Plans>()) {
  const int64_t large = n >= kLongLine ? LargeFactor(n) : 0;
  if (large != 0) {
    plans_->n2 = large;
    plans_->n1 = n / large;
    plans_->columns = std::make_unique<pocketfft_c<double>>(plans_->n1);
    plans_->rows = std::make_unique<pocketfft_c<double>>(plans_->n2);
    plans_->turns = std::make_unique<pocketfft::detail::sincos_2pibyn<double>>(n);
  } else if (kind == Kind::kForward || kind == Kind::kInverse) {
    plans_->whole = std::make_unique<pocketfft_c<double>>(n);
  } else {
    plans_->real = std::make_unique<pocketfft_r<double>>(n);
  }
}

FftLines::~FftLines() = default;

int64_t FftLines::in_length() const { return kind_ == Kind::kRealInverse ? n_ / 2 + 1 : n_; }
int64_t FftLines::out_length() const { return kind_ == Kind::kRealForward ? n_ / 2 + 1 : n_; }

int64_t FftLines::ScratchBytes(int threads) const {
  // A buffer of pocketfft has the size of ours; Bluestein's has up to four times that.
  constexpr int64_t kPerThread = 6;
  const int64_t width = kLanes * static_cast<int64_t>(sizeof(Complex));
  if (plans_->n1 == 0) return threads * kPerThread * n_ * width;
  return (plans_->n1 + threads * kPerThread * plans_->n2) * width;
}

int64_t FftLines::WorkBytes() const {
  const int64_t width = kLanes * static_cast<int64_t>(sizeof(Complex));
  return plans_->n1 * ((plans_->n2 + kLanes - 1) / kLanes) * width;
}

void FftLines::Run(PrimitiveType from, PrimitiveType to, int64_t outer, int64_t inner, const char* in,
                   char* out, char* work) const {
  const auto run = [&](auto from_tag, auto to_tag) {
    using From = decltype(from_tag);
    using To = decltype(to_tag);
    plans_->Run(kind_, n_, outer, inner, reinterpret_cast<const From*>(in), reinterpret_cast<To*>(out), work);
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

}  // namespace toroid
