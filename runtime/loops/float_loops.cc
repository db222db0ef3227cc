// BUILD: per_level
#include "runtime/loops/float_loops.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "runtime/loops/scalar_ops.h"

namespace toroid::TOROID_LEVEL {
namespace {

template <typename R>
std::complex<R> MakeComplex(R real, R imag) {
  return {real, imag};
}

// The remainders of n pairs, at most a block, as vectors. The quotient in double, cut to an integer q, is that of the true
// quotient if q < 2^28: a quotient of floats that is no integer is at least 2^-24 from the next one, and double is off by less.
// x - q * y is then exact. Returns false, and leaves `out` unfinished, if some pair is of another kind.
template <Repeat kRepeat>
bool RemaindersOf(const float* x, const float* y, float* out, int64_t n) {
  constexpr double kMostQuotient = 1 << 28;
  int unfit = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double a = x[kRepeat == Repeat::kFirst ? 0 : i], b = y[kRepeat == Repeat::kSecond ? 0 : i];
    const double quotient = std::trunc(a / b);
    unfit |= !(std::fabs(quotient) < kMostQuotient) | !(std::fabs(b) <= std::numeric_limits<float>::max());
    out[i] = std::copysign(static_cast<float>(a - quotient * b), static_cast<float>(a));
  }
  return unfit == 0;
}

template <Repeat kRepeat>
void RemainderRows(const float* x, const float* y, float* out, int64_t n) {
  constexpr int64_t kBlock = 512;
  float block[kBlock];
  const float one = kRepeat == Repeat::kFirst ? *x : *y;  // `out` may be the memory of the repeated operand.
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t some = std::min(kBlock, n - i);
    const float* a = kRepeat == Repeat::kFirst ? &one : x + i;
    const float* b = kRepeat == Repeat::kSecond ? &one : y + i;
    if (!RemaindersOf<kRepeat>(a, b, block, some)) {
      LoopOfTwo<float, float, FloatOps<float>::Remainder>(a, b, block, some, kRepeat);
    }
    std::copy_n(block, some, out + i);
  }
}

void FloatRemainders(const void* a, const void* b, void* out, int64_t n, Repeat repeat) {
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  float* z = static_cast<float*>(out);
  switch (repeat) {
    case Repeat::kNone:
      return RemainderRows<Repeat::kNone>(x, y, z, n);
    case Repeat::kFirst:
      return RemainderRows<Repeat::kFirst>(x, y, z, n);
    case Repeat::kSecond:
      return RemainderRows<Repeat::kSecond>(x, y, z, n);
  }
}

template <typename T>
BinaryLoop FindReal(Opcode opcode) {
  using Ops = FloatOps<T>;
  switch (opcode) {
    case Opcode::kAdd:
      return LoopOfTwo<T, T, Ops::Add>;
    case Opcode::kSubtract:
      return LoopOfTwo<T, T, Ops::Subtract>;
    case Opcode::kMultiply:
      return LoopOfTwo<T, T, Ops::Multiply>;
    case Opcode::kDivide:
      return LoopOfTwo<T, T, Ops::Divide>;
    case Opcode::kRemainder:
      if constexpr (std::is_same_v<T, float>) return FloatRemainders;
      return LoopOfTwo<T, T, Ops::Remainder>;
    case Opcode::kPower:
      return LoopOfTwo<T, T, Ops::Power>;
    case Opcode::kMaximum:
      return LoopOfTwo<T, T, Ops::Maximum>;
    case Opcode::kMinimum:
      return LoopOfTwo<T, T, Ops::Minimum>;
    case Opcode::kAtan2:
      return LoopOfTwo<T, T, Ops::Atan2>;
    case Opcode::kComplex:
      return LoopOfTwo<T, std::complex<T>, MakeComplex<T>>;
    default:
      return nullptr;
  }
}

// Products of complex numbers as vectors; blocks with a result that is not a number take the slow way, which finds infinities.
template <typename R, Repeat kRepeat>
void ComplexProducts(const std::complex<R>* x, const std::complex<R>* y, std::complex<R>* out, int64_t n) {
  constexpr int64_t kBlock = 256;
  // Parts stand apart first: where they alternate, g++ 12 fuses products and sums in spite of -ffp-contract=off (vfmaddsub).
  R real[kBlock], imag[kBlock];
  const std::complex<R> one =
      kRepeat == Repeat::kFirst ? *x : *y;  // `out` may be the memory of the repeated operand.
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t some = std::min(kBlock, n - i);
    const std::complex<R>* first = kRepeat == Repeat::kFirst ? &one : x + i;
    const std::complex<R>* second = kRepeat == Repeat::kSecond ? &one : y + i;
    const R* a = reinterpret_cast<const R*>(first);
    const R* b = reinterpret_cast<const R*>(second);
    int unfit = 0;
    for (int64_t j = 0; j < some; ++j) {
      const int64_t k = kRepeat == Repeat::kFirst ? 0 : 2 * j, l = kRepeat == Repeat::kSecond ? 0 : 2 * j;
      real[j] = a[k] * b[l] - a[k + 1] * b[l + 1];
      imag[j] = a[k] * b[l + 1] + a[k + 1] * b[l];
      unfit |= (real[j] != real[j]) & (imag[j] != imag[j]);
    }
    if (unfit != 0) {
      LoopOfTwo<std::complex<R>, std::complex<R>, ComplexOps<R>::Multiply>(first, second, out + i, some,
                                                                           kRepeat);
      continue;
    }
    R* parts = reinterpret_cast<R*>(out + i);
    for (int64_t j = 0; j < some; ++j) {
      parts[2 * j] = real[j];
      parts[2 * j + 1] = imag[j];
    }
  }
}

template <typename R>
void ComplexProductLoop(const void* a, const void* b, void* out, int64_t n, Repeat repeat) {
  const auto* x = static_cast<const std::complex<R>*>(a);
  const auto* y = static_cast<const std::complex<R>*>(b);
  auto* z = static_cast<std::complex<R>*>(out);
  switch (repeat) {
    case Repeat::kNone:
      return ComplexProducts<R, Repeat::kNone>(x, y, z, n);
    case Repeat::kFirst:
      return ComplexProducts<R, Repeat::kFirst>(x, y, z, n);
    case Repeat::kSecond:
      return ComplexProducts<R, Repeat::kSecond>(x, y, z, n);
  }
}

template <typename R>
BinaryLoop FindComplex(Opcode opcode) {
  using T = std::complex<R>;
  using Ops = ComplexOps<R>;
  switch (opcode) {
    case Opcode::kAdd:
      return LoopOfTwo<T, T, Ops::Add>;
    case Opcode::kSubtract:
      return LoopOfTwo<T, T, Ops::Subtract>;
    case Opcode::kMultiply:
      return ComplexProductLoop<R>;
    case Opcode::kDivide:
      return LoopOfTwo<T, T, Ops::Divide>;
    case Opcode::kPower:
      return LoopOfTwo<T, T, Ops::Power>;
    case Opcode::kAtan2:
      return LoopOfTwo<T, T, Ops::Atan2>;
    default:
      return nullptr;
  }
}

}  // namespace

BinaryLoop FindFloatLoop(Opcode opcode, PrimitiveType type) {
  switch (type) {
    case xla::F32:
      return FindReal<float>(opcode);
    case xla::F64:
      return FindReal<double>(opcode);
    case xla::C64:
      return FindComplex<float>(opcode);
    case xla::C128:
      return FindComplex<double>(opcode);
    default:
      return nullptr;
  }
}

}  // namespace toroid::TOROID_LEVEL
