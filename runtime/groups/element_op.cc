#include "runtime/groups/element_op.h"

#include "runtime/loops/block_convert.h"
#include "runtime/loops/compare_loops.h"
#include "runtime/loops/convert_loops.h"
#include "runtime/loops/stochastic_convert.h"

namespace toroid {
namespace {

using Kind = ElementOp::Kind;

bool IsOfArrays(const Instruction& instruction) {
  if (!instruction.shape().IsArray()) return false;
  for (const Instruction* operand : instruction.operands()) {
    if (!operand->shape().IsArray()) return false;
  }
  return true;
}

// Ops whose result is exact in a narrow type if the operands are of that type.
bool IsExact(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kSign:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kReal:
    case Opcode::kImag:
      return true;
    default:
      return false;
  }
}

ElementOp UnaryOp(const Instruction& instruction) {
  const PrimitiveType from = instruction.operand(0)->shape().element_type(),
                      to = instruction.shape().element_type();
  ElementOp op;
  op.unary = FindUnaryLoop(instruction.opcode(), HeldType(from));
  if (op.unary == nullptr) return {};
  op.kind = Kind::kUnary;
  op.rounds = IsNarrowFloat(to) && !IsExact(instruction.opcode());
  return op;
}

ElementOp BinaryOp(const Instruction& instruction) {
  const PrimitiveType from = instruction.operand(0)->shape().element_type(),
                      to = instruction.shape().element_type();
  ElementOp op;
  if (instruction.opcode() == Opcode::kStochasticConvert) {
    op.binary = FindStochasticConvertLoop(from, to);
    op.narrow_operands = IsNarrowFloat(from);
  } else if (instruction.operand(1)->shape().element_type() == from) {
    op.binary = FindBinaryLoop(instruction.opcode(), HeldType(from));
    op.rounds = IsNarrowFloat(to) && !IsExact(instruction.opcode());
  }
  if (op.binary == nullptr) return {};
  op.kind = Kind::kBinary;
  return op;
}

ElementOp CompareOp(const Instruction& instruction) {
  const PrimitiveType type = instruction.operand(0)->shape().element_type();
  if (instruction.operand(1)->shape().element_type() != type) return {};
  ElementOp op;
  const bool total = instruction.attrs().comparison_type() == "TOTALORDER";
  // The one NaN of these types has the bits of -0, and its place in the total order; as f32 it would lose it.
  op.narrow_operands =
      total && (type == xla::F8E4M3FNUZ || type == xla::F8E5M2FNUZ || type == xla::F8E4M3B11FNUZ);
  op.binary = FindCompareLoop(instruction.attrs().comparison_direction(), total,
                              op.narrow_operands ? type : HeldType(type));
  if (op.binary == nullptr) return {};
  op.kind = Kind::kBinary;
  return op;
}

ElementOp SelectOp(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  for (int i = 1; i <= 2; ++i) {
    if (instruction.operand(i)->shape().element_type() != shape.element_type()) return {};
  }
  ElementOp op;
  op.kind = Kind::kSelect;
  op.select = FindSelectLoop(ByteWidth(shape.element_type()));
  return op;
}

ElementOp ClampOp(const Instruction& instruction) {
  const PrimitiveType type = HeldType(instruction.shape().element_type());
  ElementOp op;
  op.binary = FindBinaryLoop(Opcode::kMaximum, type);
  op.then = FindBinaryLoop(Opcode::kMinimum, type);
  if (op.binary == nullptr || op.then == nullptr) return {};
  op.kind = Kind::kClamp;
  return op;
}

ElementOp ConvertOp(const Instruction& instruction) {
  const PrimitiveType from = instruction.operand(0)->shape().element_type(),
                      to = instruction.shape().element_type();
  ElementOp op;
  if (from == to) {
    op.kind = Kind::kSame;
    return op;
  }
  op.kind = Kind::kUnary;
  if (HeldType(from) == xla::F32 && HeldType(to) == xla::F32) {
    // Both are held as f32: only the rounding is left.
    op.kind = Kind::kSame;
    op.rounds = IsNarrowFloat(to);
    return op;
  }
  // To a narrow type in one step, since rounding to f32 first would round twice.
  op.unary = FindConvertLoop(HeldType(from), to);
  op.narrow_result = IsNarrowFloat(to);
  if (op.unary == nullptr) return {};
  return op;
}

ElementOp SameBits(const Instruction& instruction, bool may_change_type) {
  const PrimitiveType from = instruction.operand(0)->shape().element_type(),
                      to = instruction.shape().element_type();
  const bool plain = !IsNarrowFloat(from) && !IsNarrowFloat(to) && BitWidth(from) >= 8 && BitWidth(to) >= 8 &&
                     from != xla::PRED && to != xla::PRED && ByteWidth(from) == ByteWidth(to);
  if (from != to && !(may_change_type && plain)) return {};
  if (instruction.operand(0)->shape().NumElements() != instruction.shape().NumElements()) return {};
  ElementOp op;
  op.kind = Kind::kSame;
  return op;
}

}  // namespace

ElementOp ElementOpOf(const Instruction& instruction) {
  if (!IsOfArrays(instruction)) return {};
  switch (instruction.opcode()) {
    case Opcode::kReducePrecision:
      return {};
    case Opcode::kCompare:
      return CompareOp(instruction);
    case Opcode::kSelect:
      return SelectOp(instruction);
    case Opcode::kClamp:
      return ClampOp(instruction);
    case Opcode::kConvert:
      return ConvertOp(instruction);
    case Opcode::kBitcastConvert:
      return SameBits(instruction, /*may_change_type=*/true);
    case Opcode::kCopy:
    case Opcode::kReshape:
      return SameBits(instruction, /*may_change_type=*/false);
    default:
      break;
  }
  if (!IsElementwise(instruction.opcode())) return {};
  if (instruction.num_operands() == 1) return UnaryOp(instruction);
  if (instruction.num_operands() == 2) return BinaryOp(instruction);
  return {};
}

}  // namespace toroid
