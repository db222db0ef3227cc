// BUILD: copts = ["-O3", "-fno-math-errno"]
#include "runtime/kernels/unary.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/block_convert.h"
#include "runtime/loops/scalar_ops.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

constexpr int64_t kGrain = 16 << 10;

template <typename T, typename Out, Out (*kOp)(T)>
void Loop(const void* x, void* out, int64_t n) {
  const T* in = static_cast<const T*>(x);
  Out* result = static_cast<Out*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) result[i] = kOp(in[i]);
}

template <typename T>
UnaryLoop IntLoop(Opcode opcode) {
  using Ops = IntOps<T>;
  switch (opcode) {
    case Opcode::kAbs:
      return Loop<T, T, Ops::Abs>;
    case Opcode::kNegate:
      return Loop<T, T, Ops::Negate>;
    case Opcode::kSign:
      return Loop<T, T, Ops::Sign>;
    case Opcode::kNot:
      return Loop<T, T, Ops::Not>;
    case Opcode::kPopulationCount:
      return Loop<T, T, Ops::PopulationCount>;
    case Opcode::kClz:
      return Loop<T, T, Ops::CountLeadingZeros>;
    default:
      return nullptr;
  }
}

bool LogicalNot(bool x) { return !x; }
template <typename T>
bool IsFinite(T x) {
  return std::isfinite(x);
}
template <typename T>
T Same(T x) {
  return x;
}
template <typename T>
T Zero(T) {
  return T{0};
}
template <typename R>
R Real(std::complex<R> x) {
  return x.real();
}
template <typename R>
R Imag(std::complex<R> x) {
  return x.imag();
}
template <typename R>
R ComplexAbs(std::complex<R> x) {
  return std::hypot(x.real(), x.imag());
}

#define TOROID_TRANSCENDENTAL_CASES(T, Ops) \
  case Opcode::kNegate:                     \
    return Loop<T, T, Ops::Negate>;         \
  case Opcode::kSign:                       \
    return Loop<T, T, Ops::Sign>;           \
  case Opcode::kExp:                        \
    return Loop<T, T, Ops::Exp>;            \
  case Opcode::kExpm1:                      \
    return Loop<T, T, Ops::Expm1>;          \
  case Opcode::kLog:                        \
    return Loop<T, T, Ops::Log>;            \
  case Opcode::kLog1p:                      \
    return Loop<T, T, Ops::Log1p>;          \
  case Opcode::kSqrt:                       \
    return Loop<T, T, Ops::Sqrt>;           \
  case Opcode::kRsqrt:                      \
    return Loop<T, T, Ops::Rsqrt>;          \
  case Opcode::kCbrt:                       \
    return Loop<T, T, Ops::Cbrt>;           \
  case Opcode::kLogistic:                   \
    return Loop<T, T, Ops::Logistic>;       \
  case Opcode::kSin:                        \
    return Loop<T, T, Ops::Sin>;            \
  case Opcode::kCos:                        \
    return Loop<T, T, Ops::Cos>;            \
  case Opcode::kTan:                        \
    return Loop<T, T, Ops::Tan>;            \
  case Opcode::kSinh:                       \
    return Loop<T, T, Ops::Sinh>;           \
  case Opcode::kCosh:                       \
    return Loop<T, T, Ops::Cosh>;           \
  case Opcode::kTanh:                       \
    return Loop<T, T, Ops::Tanh>;           \
  case Opcode::kAsin:                       \
    return Loop<T, T, Ops::Asin>;           \
  case Opcode::kAcos:                       \
    return Loop<T, T, Ops::Acos>;           \
  case Opcode::kAsinh:                      \
    return Loop<T, T, Ops::Asinh>;          \
  case Opcode::kAcosh:                      \
    return Loop<T, T, Ops::Acosh>;          \
  case Opcode::kAtanh:                      \
    return Loop<T, T, Ops::Atanh>;

template <typename T>
UnaryLoop FloatLoop(Opcode opcode) {
  using Ops = FloatOps<T>;
  switch (opcode) {
    TOROID_TRANSCENDENTAL_CASES(T, Ops)
    case Opcode::kAbs:
      return Loop<T, T, Ops::Abs>;
    case Opcode::kFloor:
      return Loop<T, T, Ops::Floor>;
    case Opcode::kCeil:
      return Loop<T, T, Ops::Ceil>;
    case Opcode::kRoundNearestAfz:
      return Loop<T, T, Ops::RoundAwayFromZero>;
    case Opcode::kRoundNearestEven:
      return Loop<T, T, Ops::RoundToEven>;
    case Opcode::kIsFinite:
      return Loop<T, bool, IsFinite<T>>;
    case Opcode::kErf:
      return Loop<T, T, Ops::Erf>;
    case Opcode::kReal:
      return Loop<T, T, Same<T>>;
    case Opcode::kImag:
      return Loop<T, T, Zero<T>>;
    default:
      return nullptr;
  }
}

template <typename R>
UnaryLoop ComplexLoop(Opcode opcode) {
  using T = std::complex<R>;
  using Ops = ComplexOps<R>;
  switch (opcode) {
    TOROID_TRANSCENDENTAL_CASES(T, Ops)
    case Opcode::kAbs:
      return Loop<T, R, ComplexAbs<R>>;
    case Opcode::kReal:
      return Loop<T, R, Real<R>>;
    case Opcode::kImag:
      return Loop<T, R, Imag<R>>;
    default:
      return nullptr;
  }
}

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

struct UnaryCache : KernelCache {
  explicit UnaryCache(const OpCall& call)
      : type(call.operand_shape(0).element_type()),
        narrow(IsNarrowFloat(type)),
        loop(FindUnaryLoop(call.opcode(), ComputeType(type))) {}
  PrimitiveType type;
  bool narrow;
  UnaryLoop loop;
};

void NarrowLoop(const UnaryCache& cache, PrimitiveType result_type, const char* x, char* out, int64_t n) {
  alignas(64) float block[kConvertBlock];
  const int64_t width = ByteWidth(cache.type), result_width = ByteWidth(result_type);
  for (int64_t i = 0; i < n; i += kConvertBlock) {
    const int64_t count = std::min(kConvertBlock, n - i);
    NarrowToFloat(cache.type, x + i * width, block, count);
    if (result_type == cache.type) {
      cache.loop(block, block, count);
      FloatToNarrow(cache.type, block, out + i * result_width, count);
    } else {
      cache.loop(block, out + i * result_width, count);
    }
  }
}

absl::Status ExecuteReducePrecision(OpCall& call) {
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

}  // namespace

double ReducePrecision(double value, int exponent_bits, int mantissa_bits) {
  return ReducePrecisionOf<double, uint64_t, 52>(value, exponent_bits, mantissa_bits);
}

float ReducePrecision(float value, int exponent_bits, int mantissa_bits) {
  return ReducePrecisionOf<float, uint32_t, 23>(value, exponent_bits, mantissa_bits);
}

UnaryLoop FindUnaryLoop(Opcode opcode, PrimitiveType type) {
  switch (type) {
    case xla::PRED:
      return opcode == Opcode::kNot ? Loop<bool, bool, LogicalNot> : nullptr;
    case xla::F32:
      return FloatLoop<float>(opcode);
    case xla::F64:
      return FloatLoop<double>(opcode);
    case xla::C64:
      return ComplexLoop<float>(opcode);
    case xla::C128:
      return ComplexLoop<double>(opcode);
#define TOROID_CASE(enumerator, cpp) \
  case xla::enumerator:              \
    return IntLoop<cpp>(opcode);
      TOROID_FOR_EACH_INT_TYPE(TOROID_CASE)
#undef TOROID_CASE
    default:
      return nullptr;
  }
}

absl::Status ExecuteUnary(OpCall& call) {
  if (call.opcode() == Opcode::kReducePrecision) return ExecuteReducePrecision(call);
  const UnaryCache& cache = call.Cache<UnaryCache>();
  if (cache.loop == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(call.instruction().opcode_name(), " is not defined on ", TypeName(cache.type)));
  }
  const bool uniform = call.uniform(0);
  const char* x = call.data(0);
  const int64_t n = call.rows(0) * call.result_elements();
  const PrimitiveType result_type = call.shape().element_type();
  if (ByteWidth(result_type) == ByteWidth(cache.type)) {
    RETURN_IF_ERROR(call.ReuseOrNewResult(1, uniform));
  } else {
    RETURN_IF_ERROR(call.NewResult(uniform));
  }
  char* out = call.result().mutable_data();
  if (n == 1 && !cache.narrow) {
    cache.loop(x, out, 1);
    return absl::OkStatus();
  }
  const int64_t width = ByteWidth(cache.type), result_width = ByteWidth(result_type);
  ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
    if (cache.narrow) {
      NarrowLoop(cache, result_type, x + begin * width, out + begin * result_width, end - begin);
    } else {
      cache.loop(x + begin * width, out + begin * result_width, end - begin);
    }
  });
  return absl::OkStatus();
}

}  // namespace toroid
