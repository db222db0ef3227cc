#include "tests/hlo/gradient/gradient_case.h"

namespace toroid {
namespace {

struct Range {
  Opcode opcode;
  double low, high;
  bool complex = false;  // Holomorphic in the range: complex numbers too.
};

// For each op, a range in which it is smooth.
const Range kUnary[] = {
    {Opcode::kNegate, -2, 2, true},
    {Opcode::kExp, -2, 2, true},
    {Opcode::kExpm1, -2, 2, true},
    {Opcode::kLog, 0.2, 3, true},
    {Opcode::kLog1p, -0.7, 2, true},
    {Opcode::kSqrt, 0.2, 3, true},
    {Opcode::kRsqrt, 0.3, 3, true},
    {Opcode::kCbrt, 0.2, 3},
    {Opcode::kLogistic, -3, 3, true},
    {Opcode::kSin, -3, 3, true},
    {Opcode::kCos, -3, 3, true},
    {Opcode::kTan, -1.2, 1.2, true},
    {Opcode::kSinh, -2, 2},
    {Opcode::kCosh, -2, 2},
    {Opcode::kTanh, -2, 2, true},
    {Opcode::kAsin, -0.9, 0.9},
    {Opcode::kAcos, -0.9, 0.9},
    {Opcode::kAsinh, -2, 2},
    {Opcode::kAcosh, 1.2, 3},
    {Opcode::kAtanh, -0.8, 0.8},
    {Opcode::kErf, -2, 2},
    {Opcode::kAbs, 0.1, 2, true},
    {Opcode::kSign, 0.1, 2},
    {Opcode::kFloor, 0.1, 0.9},
    {Opcode::kCeil, -0.9, -0.1},
    {Opcode::kRoundNearestEven, 0.6, 1.4},
    {Opcode::kRoundNearestAfz, 0.6, 1.4},
};

const Range kBinary[] = {
    {Opcode::kAdd, -2, 2, true},     {Opcode::kSubtract, -2, 2, true}, {Opcode::kMultiply, -2, 2, true},
    {Opcode::kDivide, 0.4, 2, true}, {Opcode::kPower, 0.3, 2},         {Opcode::kMaximum, -2, 2},
    {Opcode::kMinimum, -2, 2},       {Opcode::kAtan2, 0.2, 2},
};

Shape RealOf(const Value z) { return Shape(xla::F64, z->shape().dims()); }

}  // namespace

std::vector<GradientKind> ElementwiseKinds() {
  std::vector<GradientKind> kinds;
  for (const Range& op : kUnary) {
    kinds.push_back({std::string(OpcodeName(op.opcode)), [op](GradientCase& c) {
                       const bool is_complex = op.complex && c.Coin();
                       const Value x =
                           c.Variable(c.RandomDims(0, 3), op.low, op.high, is_complex ? xla::C128 : xla::F64);
                       const PrimitiveType type =
                           is_complex && op.opcode == Opcode::kAbs ? xla::F64 : x->shape().element_type();
                       return c.b.Op(op.opcode, Shape(type, x->shape().dims()), {x});
                     }});
  }
  for (const Range& op : kBinary) {
    kinds.push_back({std::string(OpcodeName(op.opcode)), [op](GradientCase& c) {
                       const PrimitiveType type = op.complex && c.Coin() ? xla::C128 : xla::F64;
                       const Dims dims = c.RandomDims(0, 3);
                       const Value x = c.Variable(dims, op.low, op.high, type);
                       const Value y = c.Coin() ? c.Variable(dims, op.low, op.high, type)
                                                : c.Constant(dims, op.low, op.high, type);
                       return c.Coin() ? c.b.Binary(op.opcode, x, y) : c.b.Binary(op.opcode, y, x);
                     }});
  }
  kinds.push_back({"remainder", [](GradientCase& c) {
                     const Dims dims = c.RandomDims(0, 3);
                     // Between 2 and 3 times the divisor.
                     return c.b.Binary(Opcode::kRemainder, c.Variable(dims, 2.2, 2.7),
                                       c.Variable(dims, 0.95, 1.05));
                   }});
  kinds.push_back(
      {"complex", [](GradientCase& c) {
         const Dims dims = c.RandomDims(0, 3);
         return c.b.Op(Opcode::kComplex, Shape(xla::C128, dims), {c.Variable(dims), c.Variable(dims)});
       }});
  kinds.push_back({"real and imag", [](GradientCase& c) {
                     const Value z = c.Variable(c.RandomDims(0, 3), -2, 2, xla::C128);
                     return c.b.Op(c.Coin() ? Opcode::kReal : Opcode::kImag, RealOf(z), {z});
                   }});
  kinds.push_back({"select", [](GradientCase& c) {
                     const Dims dims = c.RandomDims(0, 3);
                     const Value which = c.Coin() ? c.Predicates({}) : c.Predicates(dims);
                     return c.b.Select(which, c.Variable(dims), c.Variable(dims));
                   }});
  kinds.push_back({"clamp", [](GradientCase& c) {
                     const Dims dims = c.RandomDims(0, 3);
                     const bool scalars = c.Coin();
                     const Value low = c.Variable(scalars ? Dims() : dims, -1, -0.5);
                     const Value high = c.Variable(scalars ? Dims() : dims, 0.5, 1);
                     return c.b.Clamp(low, c.Variable(dims), high);
                   }});
  kinds.push_back(
      {"convert", [](GradientCase& c) { return c.b.Convert(c.Variable(c.RandomDims(0, 3)), xla::C128); }});
  return kinds;
}

}  // namespace toroid
