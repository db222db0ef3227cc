#include "simulator/program/columns.h"

#include "simulator/program/elementwise.h"

namespace toroid {
namespace {

// Steps from a column back to the slice that it is made from.
constexpr int kMostSteps = 64;

bool IsVector(const Shape& shape) { return shape.IsArray() && shape.rank() == 1; }

bool IsCut(const Instruction* value) {
  for (int step = 0; step < kMostSteps; ++step) {
    if (value->opcode() == Opcode::kSlice)
      return value->operand(0)->shape().NumElements() > value->shape().NumElements();
    if (!IsElementwise(*value)) return false;
    const Instruction* from = nullptr;
    for (const Instruction* operand : value->operands()) {
      if (from == nullptr && operand->opcode() != Opcode::kBroadcast && operand->shape().rank() > 0)
        from = operand;
    }
    if (from == nullptr) return false;
    value = from;
  }
  return false;
}

}  // namespace

bool IsColumn(const Shape& shape, const Tiling& tiling) {
  return shape.IsArray() && shape.rank() == 2 && (shape.dim(0) == 1) != (shape.dim(1) == 1) &&
         shape.NumElements() > tiling.lanes;
}

bool IsCutColumn(const Instruction& value, const Tiling& tiling) {
  return IsColumn(value.shape(), tiling) && IsCut(&value);
}

bool IsColumnToVector(const Instruction& op, const Tiling& tiling) {
  return op.opcode() == Opcode::kReshape && IsVector(op.shape()) && IsCutColumn(*op.operand(0), tiling);
}

bool IsVectorToColumn(const Instruction& op, const Tiling& tiling) {
  return op.opcode() == Opcode::kReshape && IsColumn(op.shape(), tiling) && IsVector(op.operand(0)->shape());
}

}  // namespace toroid
