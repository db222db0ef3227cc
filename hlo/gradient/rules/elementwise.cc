#include "hlo/gradient/rules/elementwise.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

Value Square(InstructionBuilder& b, Value x) { return b.Multiply(x, x); }
Value OneMinusSquare(InstructionBuilder& b, Value x) { return b.Subtract(b.FullLike(x, 1), Square(b, x)); }
Value Real(InstructionBuilder& b, Value z) {
  const PrimitiveType type = z->shape().element_type() == xla::C128 ? xla::F64 : xla::F32;
  return b.Op(Opcode::kReal, Shape(type, z->shape().dims()), {z});
}
Value Imag(InstructionBuilder& b, Value z) {
  const PrimitiveType type = z->shape().element_type() == xla::C128 ? xla::F64 : xla::F32;
  return b.Op(Opcode::kImag, Shape(type, z->shape().dims()), {z});
}
Value Complex(InstructionBuilder& b, Value re, Value im) {
  const PrimitiveType type = re->shape().element_type() == xla::F64 ? xla::C128 : xla::C64;
  return b.Op(Opcode::kComplex, Shape(type, re->shape().dims()), {re, im});
}
Value Conjugate(InstructionBuilder& b, Value z) { return Complex(b, Real(b, z), b.Negate(Imag(b, z))); }

// The op's derivative at x, where y is its value; null if it is zero almost everywhere.
Value Derivative(InstructionBuilder& b, Opcode opcode, Value x, Value y) {
  switch (opcode) {
    case Opcode::kExp:
      return y;
    case Opcode::kExpm1:
      return b.AddNumber(y, 1);
    case Opcode::kLog:
      return b.Divide(b.FullLike(x, 1), x);
    case Opcode::kLog1p:
      return b.Divide(b.FullLike(x, 1), b.AddNumber(x, 1));
    case Opcode::kSqrt:
      return b.Divide(b.FullLike(x, 0.5), y);
    case Opcode::kRsqrt:
      return b.MultiplyNumber(b.Divide(y, x), -0.5);
    case Opcode::kCbrt:
      return b.Divide(b.FullLike(x, 1.0 / 3), Square(b, y));
    case Opcode::kLogistic:
      return b.Multiply(y, b.Subtract(b.FullLike(y, 1), y));
    case Opcode::kSin:
      return b.Unary(Opcode::kCos, x);
    case Opcode::kCos:
      return b.Negate(b.Unary(Opcode::kSin, x));
    case Opcode::kTan:
      return b.AddNumber(Square(b, y), 1);
    case Opcode::kSinh:
      return b.Unary(Opcode::kCosh, x);
    case Opcode::kCosh:
      return b.Unary(Opcode::kSinh, x);
    case Opcode::kTanh:
      return OneMinusSquare(b, y);
    case Opcode::kAsin:
      return b.Rsqrt(OneMinusSquare(b, x));
    case Opcode::kAcos:
      return b.Negate(b.Rsqrt(OneMinusSquare(b, x)));
    case Opcode::kAsinh:
      return b.Rsqrt(b.AddNumber(Square(b, x), 1));
    case Opcode::kAcosh:  // One square root for each branch point.
      return b.Multiply(b.Rsqrt(b.AddNumber(x, -1)), b.Rsqrt(b.AddNumber(x, 1)));
    case Opcode::kAtanh:
      return b.Divide(b.FullLike(x, 1), OneMinusSquare(b, x));
    case Opcode::kErf:
      return b.MultiplyNumber(b.Exp(b.Negate(Square(b, x))), M_2_SQRTPI);
    default:
      return nullptr;
  }
}

// 1 where `mine` is the result, 1/2 where both operands are, else 0.
Value ShareOfExtreme(InstructionBuilder& b, Value mine, Value other, Value result) {
  const Value half = b.FullLike(result, 0.5), one = b.FullLike(result, 1), none = b.FullLike(result, 0);
  return b.Select(b.Compare(mine, result, "EQ"), b.Select(b.Compare(other, result, "EQ"), half, one), none);
}

Value Log(InstructionBuilder& b, Value x) {
  const Value is_zero = b.Compare(x, b.FullLike(x, 0), "EQ");
  return b.Log(b.Select(is_zero, b.FullLike(x, 1), x));
}

// d(x^y)/dx; 0 for y = 0, even where x is 0.
Value PowerByBase(InstructionBuilder& b, Value x, Value y) {
  const Value is_zero = b.Compare(y, b.FullLike(y, 0), "EQ");
  const Value exponent = b.Select(is_zero, b.FullLike(y, 1), b.AddNumber(y, -1));
  return b.Select(is_zero, b.FullLike(y, 0), b.Multiply(y, b.Binary(Opcode::kPower, x, exponent)));
}

// A scalar, broadcast to `shape`.
Value Spread(InstructionBuilder& b, Value x, const Shape& shape) {
  return x->shape().rank() == shape.rank() ? x : b.Broadcast(x, shape.dims());
}

// The cotangent for an operand of `shape`: for a scalar, the sum over all elements.
Value SumTo(InstructionBuilder& b, Value cotangent, const Shape& shape) {
  if (shape.rank() == cotangent->shape().rank()) return cotangent;
  std::vector<int64_t> all;
  for (int d = 0; d < cotangent->shape().rank(); ++d) all.push_back(d);
  return b.Sum(cotangent, all);
}

}  // namespace

absl::Status UnaryGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const Value t = p.cotangent();
  const bool is_complex = IsComplex(p.operand_shape(0).element_type());
  switch (p.op().opcode()) {
    case Opcode::kNegate:
      p.Add(0, b.Negate(t));
      return absl::OkStatus();
    case Opcode::kAbs: {
      const Value sign = b.Unary(Opcode::kSign, p.operand(0));
      p.Add(0, is_complex ? b.Multiply(Complex(b, t, b.FullLike(t, 0)), Conjugate(b, sign))
                          : b.Multiply(t, sign));
      return absl::OkStatus();
    }
    case Opcode::kReal:
      p.Add(0, is_complex ? Complex(b, t, b.FullLike(t, 0)) : t);
      return absl::OkStatus();
    case Opcode::kImag:
      if (is_complex) p.Add(0, Complex(b, b.FullLike(t, 0), b.Negate(t)));
      return absl::OkStatus();
    case Opcode::kReducePrecision:
      p.Add(0, b.Op(Opcode::kReducePrecision, t->shape(), {t}, &p.op().attrs()));
      return absl::OkStatus();
    case Opcode::kSign:
      if (is_complex)
        return absl::UnimplementedError("sign of complex numbers has no holomorphic derivative");
      return absl::OkStatus();
    default:
      break;
  }
  if (const Value derivative = Derivative(b, p.op().opcode(), p.operand(0), p.result())) {
    p.Add(0, b.Multiply(t, derivative));
  }
  return absl::OkStatus();
}

absl::Status BinaryGradient(Pullback& p) {
  if (p.op().opcode() == Opcode::kStochasticConvert) return ConvertGradient(p);
  InstructionBuilder& b = p.b;
  const Value t = p.cotangent();
  const auto add = [&](int operand, const auto& cotangent) {
    if (p.Wants(operand)) p.Add(operand, cotangent());
  };
  switch (p.op().opcode()) {
    case Opcode::kAdd:
      add(0, [&] { return t; });
      add(1, [&] { return t; });
      return absl::OkStatus();
    case Opcode::kSubtract:
      add(0, [&] { return t; });
      add(1, [&] { return b.Negate(t); });
      return absl::OkStatus();
    case Opcode::kMultiply:
      add(0, [&] { return b.Multiply(t, p.operand(1)); });
      add(1, [&] { return b.Multiply(t, p.operand(0)); });
      return absl::OkStatus();
    case Opcode::kDivide:
      add(0, [&] { return b.Divide(t, p.operand(1)); });
      add(1, [&] { return b.Negate(b.Divide(b.Multiply(t, p.result()), p.operand(1))); });
      return absl::OkStatus();
    case Opcode::kRemainder:
      add(0, [&] { return t; });
      add(1, [&] {
        const Value ratio = b.Divide(p.operand(0), p.operand(1));
        const Value whole =
            b.Multiply(b.Unary(Opcode::kSign, ratio), b.Unary(Opcode::kFloor, b.Unary(Opcode::kAbs, ratio)));
        return b.Negate(b.Multiply(t, whole));
      });
      return absl::OkStatus();
    case Opcode::kPower:
      add(0, [&] { return b.Multiply(t, PowerByBase(b, p.operand(0), p.operand(1))); });
      add(1, [&] { return b.Multiply(t, b.Multiply(Log(b, p.operand(0)), p.result())); });
      return absl::OkStatus();
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      add(0, [&] { return b.Multiply(t, ShareOfExtreme(b, p.operand(0), p.operand(1), p.result())); });
      add(1, [&] { return b.Multiply(t, ShareOfExtreme(b, p.operand(1), p.operand(0), p.result())); });
      return absl::OkStatus();
    case Opcode::kAtan2: {
      const Value y = p.operand(0), x = p.operand(1);
      const Value scaled = b.Divide(t, b.Add(Square(b, x), Square(b, y)));
      add(0, [&] { return b.Multiply(scaled, x); });
      add(1, [&] { return b.Negate(b.Multiply(scaled, y)); });
      return absl::OkStatus();
    }
    case Opcode::kComplex:
      add(0, [&] { return Real(b, t); });
      add(1, [&] { return b.Negate(Imag(b, t)); });
      return absl::OkStatus();
    default:
      return absl::UnimplementedError(absl::StrCat(p.op().opcode_name(), " has no gradient"));
  }
}

absl::Status SelectGradient(Pullback& p) {
  const Value t = p.cotangent(), zeros = p.b.FullLike(t, 0);
  if (p.Wants(1)) p.Add(1, p.b.Select(p.operand(0), t, zeros));
  if (p.Wants(2)) p.Add(2, p.b.Select(p.operand(0), zeros, t));
  return absl::OkStatus();
}

absl::Status ClampGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  const Value t = p.cotangent(), zeros = b.FullLike(t, 0), x = p.operand(1);
  const Value low = Spread(b, p.operand(0), x->shape()), high = Spread(b, p.operand(2), x->shape());
  const Value below = b.Compare(x, low, "LT"), above = b.Compare(x, high, "GT");
  if (p.Wants(0)) p.Add(0, SumTo(b, b.Select(below, t, zeros), p.operand_shape(0)));
  if (p.Wants(1)) p.Add(1, b.Select(b.Or(below, above), zeros, t));
  if (p.Wants(2)) p.Add(2, SumTo(b, b.Select(above, t, zeros), p.operand_shape(2)));
  return absl::OkStatus();
}

absl::Status ConvertGradient(Pullback& p) {
  p.Add(0, p.cotangent());  // Add converts the type.
  return absl::OkStatus();
}

}  // namespace toroid
