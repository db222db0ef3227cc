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

int ClassesOf(Opcode opcode) {
  constexpr int kInt = kSigned | kUnsigned;
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kSign:
      return kSigned | kFloat | kComplexNumber;
    case Opcode::kNegate:
    case Opcode::kSubtract:
    case Opcode::kDivide:
    case Opcode::kPower:
      return kInt | kFloat | kComplexNumber;
    case Opcode::kNot:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return kPred | kInt;
    case Opcode::kPopulationCount:
    case Opcode::kClz:
    case Opcode::kMulhi:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return kInt;
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kIsFinite:
    case Opcode::kCbrt:
    case Opcode::kErf:
    case Opcode::kReducePrecision:
    case Opcode::kComplex:
    case Opcode::kStochasticConvert:
      return kFloat;
    case Opcode::kAdd:
    case Opcode::kMultiply:
      return kPred | kInt | kFloat | kComplexNumber;
    case Opcode::kRemainder:
      return kInt | kFloat;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return kPred | kInt | kFloat;
    default:
      return kFloat | kComplexNumber;  // Transcendental ones, real, imag, atan2.
  }
}

absl::Status CheckClass(const Instruction& instruction) {
  const PrimitiveType type = instruction.operand(0)->shape().element_type();
  if ((ClassOf(type) & ClassesOf(instruction.opcode())) != 0) return absl::OkStatus();
  return Violates("C1", absl::StrCat(instruction.opcode_name(), " is not defined for ", TypeName(type)));
}

absl::Status CheckEqualSizes(absl::string_view constraint, const Shape& a, const Shape& b) {
  if (a.SameDims(b)) return absl::OkStatus();
  return Violates(constraint,
                  absl::StrCat("operands ", a.ToString(), " and ", b.ToString(), " differ in size"),
                  "broadcast one of them");
}

absl::Status CheckEqualTypes(absl::string_view constraint, const Shape& a, const Shape& b) {
  if (a.element_type() == b.element_type()) return absl::OkStatus();
  return Violates(constraint,
                  absl::StrCat("operands ", a.ToString(), " and ", b.ToString(), " differ in type"),
                  "convert one of them");
}

Shape WithType(Shape shape, PrimitiveType type) {
  shape.set_element_type(type);
  return shape;
}

bool Between(int64_t low, int64_t value, int64_t high) { return low <= value && value <= high; }

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
      if (!Between(1, instruction.attrs().exponent_bits(), 63) ||
          !Between(0, instruction.attrs().mantissa_bits(), 63)) {
        return Violates("C2",
                        absl::StrCat("a float of ", instruction.attrs().exponent_bits(), " exponent and ",
                                     instruction.attrs().mantissa_bits(), " mantissa bits"));
      }
      return operand;
    default:
      return operand;
  }
}

absl::StatusOr<Shape> InferBinaryShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  RETURN_IF_ERROR(CheckClass(instruction));
  const Shape& lhs = instruction.operand(0)->shape();
  const Shape& rhs = instruction.operand(1)->shape();
  RETURN_IF_ERROR(CheckEqualSizes("C3", lhs, rhs));
  if (instruction.opcode() == Opcode::kStochasticConvert) {
    if (!IsUnsignedInt(rhs.element_type()) || BitWidth(rhs.element_type()) != BitWidth(lhs.element_type())) {
      return Violates("C2", absl::StrCat("random bits ", rhs.ToString(), " for ", lhs.ToString()),
                      "use an unsigned integer of the same width");
    }
    ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
    if (!IsInt(given.element_type()) && !IsFloat(given.element_type())) {
      return Violates("C1", absl::StrCat("a result of type ", TypeName(given.element_type())));
    }
    return WithType(lhs.WithRowMajorLayout(), given.element_type());
  }
  RETURN_IF_ERROR(CheckEqualTypes("C2", lhs, rhs));
  if (instruction.opcode() != Opcode::kComplex) return lhs.WithRowMajorLayout();
  if (lhs.element_type() != xla::F32 && lhs.element_type() != xla::F64) {
    return Violates("C1", absl::StrCat("complex of ", TypeName(lhs.element_type())), "use f32 or f64");
  }
  return WithType(lhs.WithRowMajorLayout(), lhs.element_type() == xla::F32 ? xla::C64 : xla::C128);
}

absl::StatusOr<Shape> InferCompareShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& lhs = instruction.operand(0)->shape();
  RETURN_IF_ERROR(CheckEqualSizes("C2", lhs, instruction.operand(1)->shape()));
  RETURN_IF_ERROR(CheckEqualTypes("C2", lhs, instruction.operand(1)->shape()));
  const absl::string_view direction = instruction.attrs().comparison_direction();
  const bool equality = direction == "EQ" || direction == "NE";
  if (!equality && direction != "GE" && direction != "GT" && direction != "LE" && direction != "LT") {
    return Violates("C1", absl::StrCat("unknown direction '", direction, "'"),
                    "use EQ, NE, GE, GT, LE or LT");
  }
  const PrimitiveType type = lhs.element_type();
  if (IsComplex(type) && !equality) {
    return Violates("C1", absl::StrCat("complex numbers have no order for ", direction), "use EQ or NE");
  }
  const absl::string_view order = instruction.attrs().comparison_type();
  const bool fits = order.empty() || (order == "TOTALORDER" && IsFloat(type)) ||
                    (order == "FLOAT" && (IsFloat(type) || IsComplex(type))) ||
                    (order == "SIGNED" && IsSignedInt(type)) ||
                    (order == "UNSIGNED" && (IsUnsignedInt(type) || type == xla::PRED));
  if (!fits) return Violates("C3", absl::StrCat("comparison type '", order, "' of ", TypeName(type)));
  return WithType(lhs.WithRowMajorLayout(), xla::PRED);
}

absl::StatusOr<Shape> InferSelectShape(const Instruction& instruction) {
  const Shape& predicate = instruction.operand(0)->shape();
  const Shape& on_true = instruction.operand(1)->shape();
  const Shape& on_false = instruction.operand(2)->shape();
  if (predicate.element_type() != xla::PRED || (!predicate.IsScalar() && !predicate.SameDims(on_true))) {
    return Violates("C1", absl::StrCat("predicate ", predicate.ToString(), " for ", on_true.ToString()),
                    "use pred of the same sizes, or a scalar");
  }
  if (!SameShape(on_true, on_false) || (!on_true.IsArray() && !on_true.IsTuple())) {
    return Violates("C2", absl::StrCat("branches ", on_true.ToString(), " and ", on_false.ToString()));
  }
  return on_true.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferClampShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const Shape& operand = instruction.operand(1)->shape();
  if (IsComplex(operand.element_type())) return Violates("C1", "complex numbers have no order");
  for (const int i : {0, 2}) {
    const Shape& bound = instruction.operand(i)->shape();
    RETURN_IF_ERROR(CheckEqualTypes("C1", bound, operand));
    if (!bound.IsScalar()) RETURN_IF_ERROR(CheckEqualSizes("C2", bound, operand));
  }
  return operand.WithRowMajorLayout();
}

absl::StatusOr<Shape> InferConvertShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  if (!given.IsArray() || !given.SameDims(operand)) {
    return Violates("C1", absl::StrCat(operand.ToString(), " converted to ", given.ToString()),
                    "keep the operand's sizes");
  }
  return WithType(operand.WithRowMajorLayout(), given.element_type());
}

absl::StatusOr<Shape> InferBitcastConvertShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  ASSIGN_OR_RETURN(const Shape given, GivenShape(instruction));
  const Shape& operand = instruction.operand(0)->shape();
  const PrimitiveType from = operand.element_type(), to = given.element_type();
  if (!given.IsArray() || IsComplex(from) != IsComplex(to) || (from == xla::PRED) != (to == xla::PRED)) {
    return Violates("C1", absl::StrCat("bits of ", TypeName(from), " as ", TypeName(to)));
  }
  const int64_t from_bits = BitWidth(from), to_bits = BitWidth(to);
  Dims dims(operand.dims().begin(), operand.dims().end());
  if (from_bits > to_bits && from_bits % to_bits == 0) {
    dims.push_back(from_bits / to_bits);
  } else if (from_bits < to_bits && to_bits % from_bits == 0 && !dims.empty() &&
             dims.back() == to_bits / from_bits) {
    dims.pop_back();
  } else if (from_bits != to_bits) {
    return Violates("C2", absl::StrCat(operand.ToString(), " has no elements of ", to_bits, " bits"));
  }
  return MakeArray(to, dims);
}

}  // namespace toroid
