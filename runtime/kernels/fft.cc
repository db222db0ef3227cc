#include "runtime/kernels/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/loops/convert_loops.h"
#include "unsupported/Eigen/FFT"

namespace toroid {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kLargePrime = 100;             // Eigen takes O(n p) for the largest prime factor p.
constexpr int64_t kMaxChirp = int64_t{1} << 28;  // Eigen's lengths are ints.

int64_t LargestPrimeFactor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return std::max(largest, n);
}

// Transforms lines of one length in O(n log n): by Eigen, or, if the length has a large prime factor, by
// convolution with a chirp, at a length that is a power of two (Bluestein, 1970):
//   w(k) = exp(i pi k^2 / n)
//   X(k) = conj(w(k)) sum_j (x(j) conj(w(j))) w(k - j).
class LineTransform {
 public:
  LineTransform(Eigen::FFT<double>& fft, int64_t n) : fft_(fft), n_(n), transformed_(n) {
    if (n > kMaxChirp || LargestPrimeFactor(n) <= kLargePrime) return;
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    chirp_.resize(n);
    std::vector<Complex> filter(m);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t turns = k * k % (2 * n);  // In units of pi / n. Exact, unlike k * k as an angle.
      chirp_[k] = std::polar(1.0, M_PI * static_cast<double>(turns) / static_cast<double>(n));
      filter[k] = chirp_[k];
      if (k > 0) filter[m - k] = chirp_[k];
    }
    filter_.resize(m);
    padded_.resize(m);
    spectrum_.resize(m);
    fft_.fwd(filter_.data(), filter.data(), static_cast<int>(m));
  }

  // Replaces the line by its transform, scaled by 1/n if inverse.
  void Run(bool inverse, std::vector<Complex>* line) {
    if (chirp_.empty()) {
      if (inverse) {
        fft_.inv(transformed_.data(), line->data(), static_cast<int>(n_));
      } else {
        fft_.fwd(transformed_.data(), line->data(), static_cast<int>(n_));
      }
      line->swap(transformed_);
      return;
    }
    // The inverse is the conjugate of the transform of the conjugate.
    std::fill(padded_.begin(), padded_.end(), Complex(0));
    for (int64_t k = 0; k < n_; ++k) {
      padded_[k] = (inverse ? std::conj((*line)[k]) : (*line)[k]) * std::conj(chirp_[k]);
    }
    const int m = static_cast<int>(padded_.size());
    fft_.fwd(spectrum_.data(), padded_.data(), m);
    for (int k = 0; k < m; ++k) spectrum_[k] *= filter_[k];
    fft_.inv(padded_.data(), spectrum_.data(), m);
    for (int64_t k = 0; k < n_; ++k) {
      const Complex value = padded_[k] * std::conj(chirp_[k]);
      (*line)[k] = inverse ? std::conj(value) / static_cast<double>(n_) : value;
    }
  }

 private:
  Eigen::FFT<double>& fft_;
  const int64_t n_;
  std::vector<Complex> transformed_;
  // Bluestein's arrays: w, the transform of w, room for a line and for its transform. Empty if Eigen
  // transforms the line itself.
  std::vector<Complex> chirp_, filter_, padded_, spectrum_;
};

// Transforms `data` [sizes...] in place along dimension d.
void TransformDimension(Eigen::FFT<double>& fft, const Dims& sizes, size_t d, bool inverse, Complex* data) {
  const int64_t n = sizes[d];
  if (n <= 1) return;
  LineTransform transform(fft, n);
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < d; ++i) outer *= sizes[i];
  for (size_t i = d + 1; i < sizes.size(); ++i) inner *= sizes[i];
  std::vector<Complex> line(n);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Complex* at = data + o * n * inner + i;
      for (int64_t k = 0; k < n; ++k) line[k] = at[k * inner];
      transform.Run(inverse, &line);
      for (int64_t k = 0; k < n; ++k) at[k * inner] = line[k];
    }
  }
}

}  // namespace

absl::Status ExecuteFft(OpCall& call) {
  const Shape& from = call.operand_shape(0);
  const Shape& to = call.shape();
  const Dims lengths = ToDims(call.attrs().fft_length());
  const size_t rank = lengths.size();
  const xla::FftType type = call.attrs().fft_type();
  if (rank < 1 || rank > 3 || static_cast<int>(rank) > from.rank()) {
    return absl::InvalidArgumentError(absl::StrCat("transforms of ", rank, " dimensions"));
  }
  const bool inverse = type == xla::IFFT || type == xla::IRFFT;
  const bool uniform = call.uniform(0);
  RETURN_IF_ERROR(call.NewResult(uniform));
  if (call.result_elements() == 0 || from.NumElements() == 0) {
    std::fill_n(call.result().mutable_data(), call.result().bytes(), 0);
    return absl::OkStatus();
  }
  int64_t in_size = 1, out_size = 1, size = 1;
  for (size_t i = 0; i < rank; ++i) {
    in_size *= from.dim(from.rank() - static_cast<int>(rank - i));
    out_size *= to.dim(to.rank() - static_cast<int>(rank - i));
    size *= lengths[i];
    if (lengths[i] < 1 || lengths[i] > INT32_MAX)
      return absl::InvalidArgumentError("a transform of a bad length");
  }
  const int64_t in_last = from.dim(from.rank() - 1), out_last = to.dim(to.rank() - 1), last = lengths.back();
  const ConvertLoop read = FindConvertLoop(from.element_type(), xla::C128);
  const ConvertLoop write = FindConvertLoop(xla::C128, to.element_type());
  const int64_t in_width = ByteWidth(from.element_type()), out_width = ByteWidth(to.element_type());
  // `data` and `buffer`, and the arrays of a line's transform: Bluestein's have up to four times the line's
  // length.
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  RETURN_IF_ERROR(call.CheckMemory(static_cast<int64_t>(sizeof(Complex)) *
                                   (size + std::max(in_size, out_size) + 24 * longest)));
  Eigen::FFT<double> fft;
  std::vector<Complex> data(size), buffer(std::max(in_size, out_size));
  const int64_t count = call.rows(0) * (from.NumElements() / in_size);
  for (int64_t i = 0; i < count; ++i) {
    read(call.data(0) + i * in_size * in_width, buffer.data(), in_size);
    // Puts the operand's lines into lines of the full length; the other half of a spectrum is filled in
    // below.
    std::fill(data.begin(), data.end(), Complex(0));
    for (int64_t line = 0; line < size / last; ++line) {
      std::copy_n(buffer.data() + line * in_last, std::min(in_last, last), data.data() + line * last);
    }
    if (type == xla::IRFFT) {
      for (size_t d = 0; d + 1 < rank; ++d) TransformDimension(fft, lengths, d, inverse, data.data());
      for (int64_t line = 0; line < size / last; ++line) {
        Complex* at = data.data() + line * last;
        for (int64_t k = last / 2 + 1; k < last; ++k) at[k] = std::conj(at[last - k]);
      }
      TransformDimension(fft, lengths, rank - 1, inverse, data.data());
    } else {
      for (size_t d = 0; d < rank; ++d) TransformDimension(fft, lengths, d, inverse, data.data());
    }
    for (int64_t line = 0; line < size / last; ++line) {
      std::copy_n(data.data() + line * last, std::min(out_last, last), buffer.data() + line * out_last);
    }
    write(buffer.data(), call.result().mutable_data() + i * out_size * out_width, out_size);
  }
  return absl::OkStatus();
}

}  // namespace toroid
