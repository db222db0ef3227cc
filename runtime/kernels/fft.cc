#include "runtime/kernels/fft.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/kernels/convert.h"
#include "unsupported/Eigen/FFT"

namespace toroid {
namespace {

using Complex = std::complex<double>;

// Transforms `data` [sizes...] in place along dimension d.
void TransformDimension(Eigen::FFT<double>& fft, const Dims& sizes, size_t d, bool inverse, Complex* data) {
  const int64_t n = sizes[d];
  if (n <= 1) return;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < d; ++i) outer *= sizes[i];
  for (size_t i = d + 1; i < sizes.size(); ++i) inner *= sizes[i];
  std::vector<Complex> line(n), transformed(n);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Complex* at = data + o * n * inner + i;
      for (int64_t k = 0; k < n; ++k) line[k] = at[k * inner];
      if (inverse) {
        fft.inv(transformed.data(), line.data(), static_cast<int>(n));
      } else {
        fft.fwd(transformed.data(), line.data(), static_cast<int>(n));
      }
      for (int64_t k = 0; k < n; ++k) at[k * inner] = transformed[k];
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
  Eigen::FFT<double> fft;
  std::vector<Complex> data(size), buffer(std::max(in_size, out_size));
  const int64_t count = call.rows(0) * (from.NumElements() / in_size);
  for (int64_t i = 0; i < count; ++i) {
    read(call.data(0) + i * in_size * in_width, buffer.data(), in_size);
    // The operand's lines within lines of the full length; half spectra are completed below.
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
