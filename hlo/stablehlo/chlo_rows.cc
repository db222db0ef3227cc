#include <limits>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/stablehlo/body_converter.h"
#include "hlo/stablehlo/op_rows.h"
#include "hlo/stablehlo/special_functions.h"

namespace toroid {
namespace {

absl::Status ConvertTopK(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const int64_t k, op.Integer("k"));
  attrs->set_k(k);
  attrs->set_largest(!op.Has("largest") || op.Flag("largest"));
  return op.Finish(Opcode::kTopK, attrs);
}

absl::Status ConvertSquare(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  return op.Finish(op.Add(Opcode::kMultiply, op.operand(0)->shape(), {op.operand(0), op.operand(0)}));
}

// Computes in f32, for f64 in f64 where the function is given for it.
template <Value (*kFunction)(InstructionBuilder&, Value), bool kHasDouble>
absl::Status ConvertSpecial(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  const PrimitiveType type = op.operand(0)->shape().element_type();
  const bool is_double = type == xla::F64 && kHasDouble;
  if (!is_double && (!IsFloat(type) || type == xla::F64)) {
    return op.Error(absl::StrCat("it is not known for ", TypeName(type)));
  }
  InstructionBuilder b(op.body().computation());
  b.set_metadata(op.body().state().metadata.Of(op.op().location));
  const Value y = b.Convert(kFunction(b, b.Convert(op.operand(0), is_double ? xla::F64 : xla::F32)), type);
  RETURN_IF_ERROR(b.status());
  return op.Finish(y);
}

absl::Status ConvertConj(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  Instruction* x = op.operand(0);
  if (!IsComplex(x->shape().element_type())) return op.Finish(x);
  const Shape real(RealTypeOf(x->shape().element_type()), x->shape().dims());
  Instruction* imaginary = op.Add(Opcode::kNegate, real, {op.Add(Opcode::kImag, real, {x})});
  return op.Finish(op.Add(Opcode::kComplex, x->shape(), {op.Add(Opcode::kReal, real, {x}), imaginary}));
}

absl::Status ConvertIsInf(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  RETURN_IF_ERROR(op.CheckArrays());
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
    {"chlo.erf_inv", Opcode::kUnknown, ConvertSpecial<ErfInv, false>},
    {"chlo.erfc", Opcode::kUnknown, ConvertSpecial<Erfc, false>},
    {"chlo.is_inf", Opcode::kUnknown, ConvertIsInf},
    {"chlo.sinh", Opcode::kSinh},
    {"chlo.square", Opcode::kUnknown, ConvertSquare},
    {"chlo.tan", Opcode::kTan},
    {"chlo.top_k", Opcode::kTopK, ConvertTopK},
    {"chlo.conj", Opcode::kUnknown, ConvertConj},
    {"chlo.digamma", Opcode::kUnknown, ConvertSpecial<Digamma, true>},
    {"chlo.lgamma", Opcode::kUnknown, ConvertSpecial<LogGamma, true>},
    {"mhlo.erf", Opcode::kErf},
    {"mhlo.topk", Opcode::kTopK, ConvertTopK},
};

}  // namespace

absl::Span<const OpRow> ChloRows() { return kRows; }

}  // namespace toroid
