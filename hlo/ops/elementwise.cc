#include "hlo/ops/elementwise.h"

#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

// Classes of element types, as bits.
enum TypeClass : int {
  kPred = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloat = 8,
  kComplexNumber = 16,
};

int ClassOf(PrimitiveType type) {
  if (type == xla::PRED) return kPred;
  if (IsSignedInt(type)) return kSigned;
  if (IsUnsignedInt(type)) return kUnsigned;
  if (IsFloat(type)) return kFloat;
  return IsComplex(type) ? kComplexNumber : 0;
}

// The types that an opcode takes, and the constraint that states them.
struct TypeRule {
  int classes;
  absl::string_view constraint;
  absl::string_view expected;
};

TypeRule TypeRuleOf(Opcode opcode) {
  constexpr int kInt = kSigned | kUnsigned;
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kSign:
      return {kSigned | kFloat | kComplexNumber, "C1", "signed integers, floats or complex numbers"};
    case Opcode::kNegate:
      return {kInt | kFloat | kComplexNumber, "C2", "integers, floats or complex numbers"};
    case Opcode::kNot:
      return {kPred | kInt, "C3", "booleans or integers"};
    case Opcode::kPopulationCount:
    case Opcode::kClz:
      return {kInt, "C4", "integers"};
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kIsFinite:
    case Opcode::kCbrt:
    case Opcode::kErf:
    case Opcode::kReducePrecision:
      return {kFloat, "C5", "floats"};
    case Opcode::kAdd:
    case Opcode::kMultiply:
      return {kPred | kInt | kFloat | kComplexNumber, "", "booleans, integers, floats or complex numbers"};
    case Opcode::kSubtract:
    case Opcode::kDivide:
    case Opcode::kPower:
      return {kInt | kFloat | kComplexNumber, "C4", "integers, floats or complex numbers"};
    case Opcode::kMulhi:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return {kInt, "C5", "integers"};
    case Opcode::kRemainder:
      return {kInt | kFloat, "C6", "integers or floats"};
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return {kPred | kInt | kFloat, "C7", "booleans, integers or floats"};
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return {kPred | kInt, "C8", "booleans or integers"};
    case Opcode::kAtan2:
      return {kFloat | kComplexNumber, "C9", "floats or complex numbers"};
    case Opcode::kStochasticConvert:
      return {kFloat, "C2", "floats"};
    default:
      return {kFloat | kComplexNumber, "C6", "floats or complex numbers"};  // Transcendental ops, real, imag.
  }
}

absl::Status CheckClass(const Instruction& instruction) {
  const PrimitiveType type = instruction.operand(0)->shape().element_type();
  const TypeRule rule = TypeRuleOf(instruction.opcode());
  if ((ClassOf(type) & rule.classes) != 0) return absl::OkStatus();
  return Violates(rule.constraint, absl::StrCat("the operand of ", instruction.opcode_name()), TypeName(type),
                  rule.expected);
}

absl::Status CheckEqualTypes(absl::string_view constraint, const Shape& a, const Shape& b) {
  if (SameUpToFloats(a.element_type(), b.element_type())) return absl::OkStatus();
  return Violates(constraint, "operands", absl::StrCat(a.ToString(), " and ", b.ToString()),
                  "one type; convert one of them");
}

Shape WithType(Shape shape, PrimitiveType type) {
  shape.set_element_type(type);
  return shape;
}

bool IsBetween(int64_t low, int64_t value, int64_t high) { return low <= value && value <= high; }

}  // namespace

absl::StatusOr<Shape> InferUnaryShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckClass(instruction));
  const Shape operand = instruction.operand(0)->shape().WithRowMajorLayout();
  switch (instruction.opcode()) {
    case Opcode::kIsFinite:
      return WithType(operand, xla::PRED);
    case Opcode::kAbs:
    case Opcode::kReal:
    case Opcode::kImag:
      return WithType(operand, RealTypeOf(operand.element_type()));
    case Opcode::kReducePrecision:
      if (!IsBetween(1, instruction.attrs().exponent_bits(), 63) ||
          !IsBetween(0, instruction.attrs().mantissa_bits(), 63)) {
        return Violates("C7", "reduce-precision",
                        absl::StrCat(instruction.attrs().exponent_bits(), " exponent and ",
                                     instruction.attrs().mantissa_bits(), " mantissa bits"),
                        "1 to 63 exponent and 0 to 63 mantissa bits");
      }
      return operand;
    default:
      return operand;
  }
}

absl::StatusOr<Shape> InferBinaryShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& lhs = instruction.operand(0)->shape();
  const Shape& rhs = instruction.operand(1)->shape();
  RETURN_IF_ERROR(CheckEqualSizes("C3", instruction));
  if (instruction.opcode() == Opcode::kStochasticConvert) {
    RETURN_IF_ERROR(CheckClass(instruction));
    if (!IsUnsignedInt(rhs.element_type()) || BitWidth(rhs.element_type()) != BitWidth(lhs.element_type())) {
      return Violates("C2", absl::StrCat("random bits for ", lhs.ToString()), rhs.ToString(),
                      "an unsigned integer of the same width");
    }
    ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
    if (!IsInt(given.element_type()) && !IsFloat(given.element_type())) {
      return Violates("C2", "the result", given.ToString(), "integers or floats");
    }
    return WithType(lhs.WithRowMajorLayout(), given.element_type());
  }
  RETURN_IF_ERROR(CheckEqualTypes("C1", lhs, rhs));
  if (instruction.opcode() != Opcode::kComplex) {
    RETURN_IF_ERROR(CheckClass(instruction));
    return WithType(lhs.WithRowMajorLayout(), CommonFloat(lhs.element_type(), rhs.element_type()));
  }
  if ((lhs.element_type() != xla::F32 && lhs.element_type() != xla::F64) ||
      lhs.element_type() != rhs.element_type()) {
    return Violates("C10", "the parts of complex", lhs.ToString(), "f32 or f64, both the same");
  }
  return WithType(lhs.WithRowMajorLayout(), lhs.element_type() == xla::F32 ? xla::C64 : xla::C128);
}

absl::StatusOr<Shape> InferCompareShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& lhs = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckEqualSizes("C3", instruction));
  RETURN_IF_ERROR(CheckEqualTypes("C3", lhs, instruction.operand(1)->shape()));
  const absl::string_view direction = instruction.attrs().comparison_direction();
  const bool equality = direction == "EQ" || direction == "NE";
  if (!equality && direction != "GE" && direction != "GT" && direction != "LE" && direction != "LT") {
    return Violates("C1", "direction", direction, "EQ, NE, GE, GT, LE or LT");
  }
  const PrimitiveType type = lhs.element_type();
  if (IsComplex(type) && !equality) {
    return Violates("C2", "direction", direction, "EQ or NE, as complex numbers have no order");
  }
  const absl::string_view order = instruction.attrs().comparison_type();
  const bool fits = order.empty() || (order == "TOTALORDER" && IsFloat(type)) ||
                    (order == "FLOAT" && (IsFloat(type) || IsComplex(type))) ||
                    (order == "SIGNED" && IsSignedInt(type)) ||
                    (order == "UNSIGNED" && (IsUnsignedInt(type) || type == xla::PRED));
  if (!fits) {
    return Violates("C4", "type", absl::StrCat(order, " of ", TypeName(type)),
                    "FLOAT, TOTALORDER, SIGNED or UNSIGNED, as fits the operands");
  }
  return WithType(lhs.WithRowMajorLayout(), xla::PRED);
}

absl::StatusOr<Shape> InferSelectShape(const Instruction& instruction) {
  const Shape& predicate = instruction.operand(0)->shape();
  const Shape& on_true = instruction.operand(1)->shape();
  const Shape& on_false = instruction.operand(2)->shape();
  if (predicate.element_type() != xla::PRED || (!predicate.IsScalar() && !predicate.SameDims(on_true))) {
    return Violates("C1", "the predicate", predicate.ToString(),
                    absl::StrCat("pred of the sizes of ", on_true.ToString(), ", or pred[]"));
  }
  if (!on_true.IsArray() && !on_true.IsTuple()) {
    return Violates("C2", "operand 1", on_true.ToString(), "an array or a tuple");
  }
  if (on_true.IsTuple()) {
    RETURN_IF_ERROR(CheckShape("C2", "operand 2", on_false, on_true));
    return on_true.WithRowMajorLayout();
  }
  RETURN_IF_ERROR(CheckShapeUpToFloats("C2", "operand 2", on_false, on_true));
  return WithType(on_true.WithRowMajorLayout(), CommonFloat(on_true.element_type(), on_false.element_type()));
}

absl::StatusOr<Shape> InferClampShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(1)->shape();
  if (IsComplex(operand.element_type())) {
    return Violates("C1", "operand 1", operand.ToString(), "a type with an order");
  }
  PrimitiveType type = operand.element_type();
  for (const int i : {0, 2}) {
    const Shape& bound = instruction.operand(i)->shape();
    RETURN_IF_ERROR(CheckEqualTypes("C2", bound, operand));
    type = CommonFloat(type, bound.element_type());
    if (bound.IsScalar() || bound.SameDims(operand)) continue;
    return Violates("C3", absl::StrCat("operand ", i), bound.ToString(),
                    absl::StrCat("a scalar, or the sizes of ", operand.ToString()));
  }
  return WithType(operand.WithRowMajorLayout(), type);
}

absl::StatusOr<Shape> InferConvertShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  if (!given.IsArray() || !given.SameDims(operand)) {
    return Violates("C1", "the result", given.ToString(),
                    absl::StrCat("an array of the sizes of ", operand.ToString()));
  }
  return WithType(operand.WithRowMajorLayout(), given.element_type());
}

absl::StatusOr<Shape> InferBitcastConvertShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const PrimitiveType from = operand.element_type(), to = given.element_type();
  if (!given.IsArray() || IsComplex(from) != IsComplex(to) || (from == xla::PRED) != (to == xla::PRED)) {
    return Violates("C1", absl::StrCat("the bits of ", TypeName(from)), TypeName(to),
                    "an array; pred from pred alone, complex numbers from complex numbers alone");
  }
  const int64_t from_bits = BitWidth(from), to_bits = BitWidth(to);
  Dims dims(operand.dims().begin(), operand.dims().end());
  if (from_bits > to_bits && from_bits % to_bits == 0) {
    dims.push_back(from_bits / to_bits);
  } else if (from_bits < to_bits && to_bits % from_bits == 0 && !dims.empty() &&
             dims.back() == to_bits / from_bits) {
    dims.pop_back();
  } else if (from_bits != to_bits) {
    return Violates("C2", absl::StrCat("the operand of a result of ", to_bits, " bits"), operand.ToString(),
                    "a multiple of the width, or a trailing dimension of as many elements as make one");
  }
  return MakeArray(to, dims);
}

}  // namespace toroid
