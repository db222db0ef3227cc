#include "simulator/program/loop_constant.h"

#include <cstdint>

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/module.h"

namespace toroid {
namespace {

// The loop that runs `body`; null if none does.
const Instruction* LoopOf(const Computation& body) {
  for (const auto& computation : body.module()->computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() == Opcode::kWhile && op->called(0) == &body) return op.get();
    }
  }
  return nullptr;
}

bool IsElement(const Instruction& op, const Instruction& of, int64_t index) {
  return op.opcode() == Opcode::kGetTupleElement && op.operand(0) == &of && op.tuple_index() == index;
}

// The operand of which the fusion cuts a part; null if it does something else.
const Instruction* SlicedByFusion(const Instruction& fusion) {
  const Instruction* inside = fusion.called(0)->root();
  while (inside->opcode() == Opcode::kDynamicSlice || inside->opcode() == Opcode::kSlice)
    inside = inside->operand(0);
  return inside->opcode() == Opcode::kParameter && inside != fusion.called(0)->root()
             ? fusion.operand(static_cast<int>(inside->parameter_number()))
             : nullptr;
}

// What the value is, or is a part of, one level further out; null if there is no such thing.
const Instruction* Outside(const Instruction& value) {
  switch (value.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kReshape:
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
      return value.operand(0);
    case Opcode::kFusion:
      return SlicedByFusion(value);
    case Opcode::kGetTupleElement:
      break;
    default:
      return nullptr;
  }
  const Instruction& from = *value.operand(0);
  const int64_t index = value.tuple_index();
  if (from.opcode() == Opcode::kTuple) return from.operand(static_cast<int>(index));
  if (from.opcode() != Opcode::kParameter) return nullptr;
  const Instruction* loop = LoopOf(*from.computation());
  const Instruction* root = from.computation()->root();
  if (loop == nullptr || root->opcode() != Opcode::kTuple) return nullptr;
  if (!IsElement(*root->operand(static_cast<int>(index)), from, index)) return nullptr;
  const Instruction* begin = loop->operand(0);
  return begin->opcode() == Opcode::kTuple ? begin->operand(static_cast<int>(index)) : nullptr;
}

}  // namespace

std::optional<Literal> LoopConstant(const Instruction& value) {
  const Instruction* at = &value;
  while (at != nullptr && at->opcode() != Opcode::kConstant) at = Outside(*at);
  if (at == nullptr) return std::nullopt;
  absl::StatusOr<Literal> literal = LiteralOf(*at);
  if (!literal.ok()) return std::nullopt;
  return *std::move(literal);
}

}  // namespace toroid
