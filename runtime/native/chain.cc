#include "runtime/native/chain.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

bool IsSmallInt(PrimitiveType type) {
  return type == xla::S8 || type == xla::U8 || type == xla::S16 || type == xla::U16;
}

bool CanConvert(PrimitiveType from, PrimitiveType to) {
  if (IsHalf(from)) return to == xla::F32;
  if (IsHalf(to)) return from == xla::F32;
  if (from == xla::PRED) return IsWord(to) || IsSmallInt(to);
  if (to == xla::PRED) return IsWord(from) || IsSmallInt(from);
  if (from == xla::F32) return to == xla::S32 || IsSmallInt(to);
  const bool from_int = IsWord(from) || IsSmallInt(from), to_int = IsWord(to) || IsSmallInt(to);
  return from_int && to_int;
}

bool CanCompute(Opcode opcode, PrimitiveType type) {
  const bool is_float = type == xla::F32, is_int = type == xla::S32 || type == xla::U32,
             is_pred = type == xla::PRED;
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kNegate:
      return is_float || is_int;
    case Opcode::kAbs:
      return is_float || type == xla::S32;
    case Opcode::kDivide:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestEven:
    case Opcode::kSign:
    case Opcode::kExp:
    case Opcode::kTanh:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
      return is_float;
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
      return is_int || is_pred;
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return is_int;
    default:
      return false;
  }
}

}  // namespace

PrimitiveType ChainOp::type() const {
  if (opcode == Opcode::kCompare) return xla::PRED;
  if (opcode == Opcode::kConvert) return to;
  return from;
}

bool CanChain(const ChainOp& op) {
  switch (op.opcode) {
    case Opcode::kConvert:
      return CanConvert(op.from, op.to);
    case Opcode::kReducePrecision:
      return op.from == xla::F32 && IsHalf(op.to);
    case Opcode::kCompare:
      return IsWord(op.from) || op.from == xla::PRED;
    case Opcode::kSelect:
      return IsWord(op.from) || IsSmallInt(op.from) || IsHalf(op.from) || op.from == xla::PRED;
    default:
      return CanCompute(op.opcode, op.from);
  }
}

PrimitiveType Chain::TypeOf(int value) const {
  const int op = value - static_cast<int>(inputs.size());
  return op < 0 ? inputs[value] : ops[op].type();
}

std::string ToString(const Chain& chain) {
  std::string text;
  const auto name = [](PrimitiveType type) { return absl::AsciiStrToLower(xla::PrimitiveType_Name(type)); };
  for (size_t i = 0; i < chain.inputs.size(); ++i) {
    absl::StrAppend(&text, i, " = input ", name(chain.inputs[i]), "\n");
  }
  for (size_t i = 0; i < chain.ops.size(); ++i) {
    const ChainOp& op = chain.ops[i];
    absl::StrAppend(&text, chain.inputs.size() + i, " = ", OpcodeName(op.opcode), " ", name(op.type()), " (");
    for (size_t o = 0; o < op.operands.size() && op.operands[o] >= 0; ++o) {
      absl::StrAppend(&text, o == 0 ? "" : ", ", op.operands[o]);
    }
    absl::StrAppend(&text, ")\n");
  }
  return text;
}

}  // namespace toroid
