// BUILD: per_level
#include "runtime/loops/unary_loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "hlo/ir/native_types.h"
#include "runtime/loops/scalar_ops.h"

namespace toroid::TOROID_LEVEL {
namespace {

template <typename T, typename Out, Out (*kOp)(T)>
void Loop(const void* x, void* out, int64_t n) {
  const T* in = static_cast<const T*>(x);
  Out* result = static_cast<Out*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) result[i] = kOp(in[i]);
}

// A loop of a function that is vectorized for |x| <= kMostRadians; blocks with other numbers take the slow one.
template <float (*kFast)(float), float (*kSlow)(float)>
void AngleLoop(const void* x, void* out, int64_t n) {
  constexpr int64_t kBlock = 512;
  const float* in = static_cast<const float*>(x);
  float* result = static_cast<float*>(out);
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t some = std::min(kBlock, n - i);
    int unfit = 0;
    for (int64_t j = i; j < i + some; ++j) unfit |= !(std::fabs(in[j]) <= kMostRadians);
    if (unfit == 0) {
      Loop<float, float, kFast>(in + i, result + i, some);
    } else {
      Loop<float, float, kSlow>(in + i, result + i, some);
    }
  }
}
float FastSine(float x) {
  const float y = SineOfFloat(x, 0);
  return x == 0 ? x : y;  // Of -0 too.
}
float FastCosine(float x) { return SineOfFloat(x, 1); }

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
  if constexpr (std::is_same_v<T, float>) {
    if (opcode == Opcode::kSin) return AngleLoop<FastSine, Ops::Sin>;
    if (opcode == Opcode::kCos) return AngleLoop<FastCosine, Ops::Cos>;
  }
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

}  // namespace

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

}  // namespace toroid::TOROID_LEVEL
