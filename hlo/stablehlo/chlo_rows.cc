#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/stablehlo/body_converter.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

absl::Status ConvertTopK(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const int64_t k, op.Integer("k"));
  attrs->set_k(k);
  attrs->set_largest(true);
  return op.Finish(Opcode::kTopK, attrs);
}

absl::Status ConvertSquare(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  return op.Finish(op.Add(Opcode::kMultiply, op.operand(0)->shape(), {op.operand(0), op.operand(0)}));
}

absl::StatusOr<Value> Float32(OpConversion& op, InstructionBuilder* b) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  const PrimitiveType type = op.operand(0)->shape().element_type();
  if (type != xla::F32 && type != xla::F16 && type != xla::BF16)
    return op.Error("only floats of up to 32 bits are read");
  b->set_metadata(op.body().state().metadata.Of(op.op().location));
  return b->Convert(op.operand(0), xla::F32);
}

// As 1 - erf(x): near 0 it is exact to the last bit of 1, which is all that sums with it keep.
absl::Status ConvertErfc(OpConversion& op) {
  InstructionBuilder b(op.body().computation());
  ASSIGN_OR_RETURN(const Value x, Float32(op, &b));
  const Value one = b.FullLike(x, 1);
  const Value y = b.Convert(b.Subtract(one, b.Unary(Opcode::kErf, x)), op.operand(0)->shape().element_type());
  RETURN_IF_ERROR(b.status());
  return op.Finish(y);
}

// Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011): polynomials in w = -log(1 - x^2).
absl::Status ConvertErfInv(OpConversion& op) {
  static constexpr double kCentral[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                        -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                        -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                     -0.00367342844,  0.00573950773,  -0.0076224613,
                                     0.00943887047,   1.00167406,     2.83297682};
  InstructionBuilder b(op.body().computation());
  ASSIGN_OR_RETURN(const Value x, Float32(op, &b));
  const Value w = b.Negate(b.Unary(Opcode::kLog1p, b.Multiply(x, b.Negate(x))));
  const Value central = b.Compare(w, b.FullLike(w, 5), "LT");
  const Value t = b.Select(central, b.AddNumber(w, -2.5), b.AddNumber(b.Unary(Opcode::kSqrt, w), -3));
  Value p = b.Select(central, b.FullLike(w, kCentral[0]), b.FullLike(w, kTail[0]));
  for (int i = 1; i < 9; ++i) {
    p = b.Add(b.Select(central, b.FullLike(w, kCentral[i]), b.FullLike(w, kTail[i])), b.Multiply(p, t));
  }
  const Value one = b.FullLike(x, 1);
  const Value end = b.Compare(b.Unary(Opcode::kAbs, x), one, "EQ");
  const Value y =
      b.Select(end, b.MultiplyNumber(x, std::numeric_limits<double>::infinity()), b.Multiply(p, x));
  const Value result = b.Convert(y, op.operand(0)->shape().element_type());
  RETURN_IF_ERROR(b.status());
  return op.Finish(result);
}

absl::Status ConvertIsInf(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  InstructionBuilder b(op.body().computation());
  const Value x = op.operand(0);
  const Value y =
      b.Compare(b.Unary(Opcode::kAbs, x), b.FullLike(x, std::numeric_limits<double>::infinity()), "EQ");
  RETURN_IF_ERROR(b.status());
  return op.Finish(y);
}

constexpr OpRow kRows[] = {
    {"chlo.acos", Opcode::kAcos},
    {"chlo.acosh", Opcode::kAcosh},
    {"chlo.asin", Opcode::kAsin},
    {"chlo.asinh", Opcode::kAsinh},
    {"chlo.atanh", Opcode::kAtanh},
    {"chlo.cosh", Opcode::kCosh},
    {"chlo.erf", Opcode::kErf},
    {"chlo.erf_inv", Opcode::kUnknown, ConvertErfInv},
    {"chlo.erfc", Opcode::kUnknown, ConvertErfc},
    {"chlo.is_inf", Opcode::kUnknown, ConvertIsInf},
    {"chlo.sinh", Opcode::kSinh},
    {"chlo.square", Opcode::kUnknown, ConvertSquare},
    {"chlo.tan", Opcode::kTan},
    {"chlo.top_k", Opcode::kTopK, ConvertTopK},
    {"mhlo.erf", Opcode::kErf},
};

}  // namespace

absl::Span<const OpRow> ChloRows() { return kRows; }

}  // namespace toroid
