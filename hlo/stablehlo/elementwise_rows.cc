#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/io/literal_text.h"
#include "hlo/stablehlo/body_converter.h"
#include "hlo/stablehlo/dense_literal.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

// An array whose one value is a broadcast in text files is one here: the memory follows the text.
absl::Status ConvertConstant(OpConversion& op) {
  const MlirAttribute* value = op.Find("value");
  if (value == nullptr || value->kind != MlirAttribute::Kind::kDense)
    return op.Error("its value is dense<..>");
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  if (!shape.IsArray() || !value->type.shape.IsArray() || !shape.Compatible(value->type.shape)) {
    return op.Error("the value and the result differ in type");
  }
  absl::StatusOr<DenseValue> dense = ParseDense(value->body, shape);
  if (!dense.ok()) return op.Error(dense.status().message());
  Literal literal = dense->literal;
  const bool broadcast = dense->is_splat && shape.NumElements() > kMaxSplatElements;
  if (dense->is_splat && !broadcast) {
    Literal full(shape);
    const int64_t width = ByteWidth(shape.element_type());
    char* out = shape.NumElements() > 0 ? full.mutable_bytes() : nullptr;
    for (int64_t i = 0; i < shape.NumElements(); ++i) std::copy_n(literal.bytes(), width, out + i * width);
    literal = full;
  }
  xla::HloInstructionProto* attrs = op.NewAttrs();
  literal.ToProto(attrs->mutable_literal());
  Instruction* constant = op.Add(Opcode::kConstant, literal.shape(), {}, attrs);
  return op.Finish(broadcast ? op.Add(Opcode::kBroadcast, shape, {constant}) : constant);
}

absl::Status ConvertElementwise(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(OpcodeArity(op.opcode())));
  RETURN_IF_ERROR(op.CheckArrays());
  return op.Finish(op.opcode());
}

absl::Status ConvertCompare(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(2));
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(*attrs->mutable_comparison_direction(), op.Keyword("comparison_direction"));
  if (op.Has("compare_type")) {
    ASSIGN_OR_RETURN(std::string type, op.Keyword("compare_type"));
    if (type != "NOTYPE") attrs->set_comparison_type(std::move(type));
  }
  return op.Finish(Opcode::kCompare, attrs);
}

absl::Status ConvertReducePrecision(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  ASSIGN_OR_RETURN(const int64_t exponent, op.Integer("exponent_bits"));
  ASSIGN_OR_RETURN(const int64_t mantissa, op.Integer("mantissa_bits"));
  attrs->set_exponent_bits(static_cast<int32_t>(exponent));
  attrs->set_mantissa_bits(static_cast<int32_t>(mantissa));
  return op.Finish(Opcode::kReducePrecision, attrs);
}

// A conversion to the operand's own type is the operand.
absl::Status ConvertConvert(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  RETURN_IF_ERROR(op.CheckArrays());
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  if (shape.Compatible(op.operand(0)->shape())) return op.Finish(op.operand(0));
  return op.Finish(Opcode::kConvert);
}

constexpr OpRow kRows[] = {
    {"stablehlo.abs", Opcode::kAbs, ConvertElementwise},
    {"stablehlo.add", Opcode::kAdd, ConvertElementwise},
    {"stablehlo.and", Opcode::kAnd, ConvertElementwise},
    {"stablehlo.atan2", Opcode::kAtan2, ConvertElementwise},
    {"stablehlo.bitcast_convert", Opcode::kBitcastConvert, ConvertElementwise},
    {"stablehlo.cbrt", Opcode::kCbrt, ConvertElementwise},
    {"stablehlo.ceil", Opcode::kCeil, ConvertElementwise},
    {"stablehlo.clamp", Opcode::kClamp, ConvertElementwise},
    {"stablehlo.compare", Opcode::kCompare, ConvertCompare},
    {"stablehlo.complex", Opcode::kComplex, ConvertElementwise},
    {"stablehlo.constant", Opcode::kConstant, ConvertConstant},
    {"stablehlo.convert", Opcode::kConvert, ConvertConvert},
    {"stablehlo.cosine", Opcode::kCos, ConvertElementwise},
    {"stablehlo.count_leading_zeros", Opcode::kClz, ConvertElementwise},
    {"stablehlo.divide", Opcode::kDivide, ConvertElementwise},
    {"stablehlo.exponential", Opcode::kExp, ConvertElementwise},
    {"stablehlo.exponential_minus_one", Opcode::kExpm1, ConvertElementwise},
    {"stablehlo.floor", Opcode::kFloor, ConvertElementwise},
    {"stablehlo.imag", Opcode::kImag, ConvertElementwise},
    {"stablehlo.is_finite", Opcode::kIsFinite, ConvertElementwise},
    {"stablehlo.log", Opcode::kLog, ConvertElementwise},
    {"stablehlo.log_plus_one", Opcode::kLog1p, ConvertElementwise},
    {"stablehlo.logistic", Opcode::kLogistic, ConvertElementwise},
    {"stablehlo.maximum", Opcode::kMaximum, ConvertElementwise},
    {"stablehlo.minimum", Opcode::kMinimum, ConvertElementwise},
    {"stablehlo.multiply", Opcode::kMultiply, ConvertElementwise},
    {"stablehlo.negate", Opcode::kNegate, ConvertElementwise},
    {"stablehlo.not", Opcode::kNot, ConvertElementwise},
    {"stablehlo.or", Opcode::kOr, ConvertElementwise},
    {"stablehlo.popcnt", Opcode::kPopulationCount, ConvertElementwise},
    {"stablehlo.power", Opcode::kPower, ConvertElementwise},
    {"stablehlo.real", Opcode::kReal, ConvertElementwise},
    {"stablehlo.reduce_precision", Opcode::kReducePrecision, ConvertReducePrecision},
    {"stablehlo.remainder", Opcode::kRemainder, ConvertElementwise},
    {"stablehlo.round_nearest_afz", Opcode::kRoundNearestAfz, ConvertElementwise},
    {"stablehlo.round_nearest_even", Opcode::kRoundNearestEven, ConvertElementwise},
    {"stablehlo.rsqrt", Opcode::kRsqrt, ConvertElementwise},
    {"stablehlo.select", Opcode::kSelect, ConvertElementwise},
    {"stablehlo.shift_left", Opcode::kShiftLeft, ConvertElementwise},
    {"stablehlo.shift_right_arithmetic", Opcode::kShiftRightArithmetic, ConvertElementwise},
    {"stablehlo.shift_right_logical", Opcode::kShiftRightLogical, ConvertElementwise},
    {"stablehlo.sign", Opcode::kSign, ConvertElementwise},
    {"stablehlo.sine", Opcode::kSin, ConvertElementwise},
    {"stablehlo.sqrt", Opcode::kSqrt, ConvertElementwise},
    {"stablehlo.subtract", Opcode::kSubtract, ConvertElementwise},
    {"stablehlo.tan", Opcode::kTan, ConvertElementwise},
    {"stablehlo.tanh", Opcode::kTanh, ConvertElementwise},
    {"stablehlo.xor", Opcode::kXor, ConvertElementwise},
};

}  // namespace

absl::Span<const OpRow> ElementwiseRows() { return kRows; }

}  // namespace toroid
