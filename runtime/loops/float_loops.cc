// BUILD: copts = ["-O3", "-fno-math-errno"]
#include "runtime/loops/float_loops.h"

#include <complex>

#include "runtime/loops/scalar_ops.h"

namespace toroid {
namespace {

template <typename R>
std::complex<R> MakeComplex(R real, R imag) {
  return {real, imag};
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
      return LoopOfTwo<T, T, Ops::Multiply>;
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

}  // namespace toroid
