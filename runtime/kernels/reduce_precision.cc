// BUILD: copts = ["-O3"]
#include "runtime/kernels/reduce_precision.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "runtime/loops/block_convert.h"

namespace toroid {
namespace {

// Bits: the unsigned type with the width of Float. kMantissa: the explicit mantissa bits of Float.
template <typename Float, typename Bits, int kMantissa>
Float ReducePrecisionOf(Float value, int exponent_bits, int mantissa_bits) {
  constexpr int kExponentBits = 8 * sizeof(Float) - 1 - kMantissa;
  Bits bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const Bits sign = bits & (Bits{1} << (8 * sizeof(Float) - 1));
  Bits magnitude = bits ^ sign;
  if (magnitude > ((Bits{1} << kExponentBits) - 1) << kMantissa) return value;  // NaN.
  if (mantissa_bits < kMantissa) {
    const int dropped = kMantissa - mantissa_bits;
    const Bits last = (magnitude >> dropped) & 1;
    const Bits half = Bits{1} << (dropped - 1);
    magnitude = (magnitude + half - 1 + last) & ~((Bits{1} << dropped) - 1);
  }
  if (exponent_bits < kExponentBits) {
    const int64_t bias = (int64_t{1} << (kExponentBits - 1)) - 1;
    const int64_t small_bias = (int64_t{1} << (exponent_bits - 1)) - 1;
    const int64_t exponent = static_cast<int64_t>(magnitude >> kMantissa) - bias;
    if (exponent > small_bias) {
      magnitude = ((Bits{1} << kExponentBits) - 1) << kMantissa;
    } else if (exponent < 1 - small_bias) {
      magnitude = 0;
    }
  }
  bits = sign | magnitude;
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

}  // namespace

double ReducePrecision(double value, int exponent_bits, int mantissa_bits) {
  return ReducePrecisionOf<double, uint64_t, 52>(value, exponent_bits, mantissa_bits);
}

float ReducePrecision(float value, int exponent_bits, int mantissa_bits) {
  return ReducePrecisionOf<float, uint32_t, 23>(value, exponent_bits, mantissa_bits);
}

absl::Status ReducePrecisionOf(OpCall& call) {
  const PrimitiveType type = call.shape().element_type();
  const int exponent_bits = call.attrs().exponent_bits(), mantissa_bits = call.attrs().mantissa_bits();
  if (exponent_bits < 1 || mantissa_bits < 0) {
    return absl::InvalidArgumentError("needs at least 1 exponent bit and 0 mantissa bits");
  }
  if (!IsFloat(type)) return absl::UnimplementedError(absl::StrCat("not defined on ", TypeName(type)));
  const bool uniform = call.uniform(0);
  const char* x = call.data(0);
  const int64_t n = call.rows(0) * call.result_elements(), width = ByteWidth(type);
  RETURN_IF_ERROR(call.ReuseOrNewResult(1, uniform));
  char* out = call.result().mutable_data();
  const auto reduce_all = [&](auto tag, auto reduce) {
    using T = decltype(tag);
    for (int64_t i = 0; i < n; ++i) {
      reinterpret_cast<T*>(out)[i] = reduce(reinterpret_cast<const T*>(x)[i], exponent_bits, mantissa_bits);
    }
    return absl::OkStatus();
  };
  // Works on the format's own bits: its denormal numbers would be normal in a wider format.
  if (type == xla::F64) return reduce_all(uint64_t(), ReducePrecisionOf<uint64_t, uint64_t, 52>);
  if (type == xla::F16) return reduce_all(uint16_t(), ReducePrecisionOf<uint16_t, uint16_t, 10>);
  if (type == xla::BF16) return reduce_all(uint16_t(), ReducePrecisionOf<uint16_t, uint16_t, 7>);
  float block[kConvertBlock];
  for (int64_t i = 0; i < n; i += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, n - i);
    if (type == xla::F32) {
      std::memcpy(block, x + i * width, count * width);
    } else {
      NarrowToFloat(type, x + i * width, block, count);
    }
    for (int64_t j = 0; j < count; ++j) block[j] = ReducePrecision(block[j], exponent_bits, mantissa_bits);
    if (type == xla::F32) {
      std::memcpy(out + i * width, block, count * width);
    } else {
      FloatToNarrow(type, block, out + i * width, count);
    }
  }
  return absl::OkStatus();
}

}  // namespace toroid
