#include "simulator/program/data_movement.h"

#include "hlo/ir/unit_dims.h"

namespace toroid {

bool Places(const Instruction& op) {
  return op.opcode() == Opcode::kConcatenate || op.opcode() == Opcode::kPad;
}

bool RepeatsElements(const Instruction& op) {
  return op.opcode() == Opcode::kBroadcast && SizedDims(op.operand(0)->shape()).size() > 1 &&
         SizedDims(op.shape()).size() > SizedDims(op.operand(0)->shape()).size();
}

bool IsInPlace(const Instruction& op) {
  return op.opcode() == Opcode::kTranspose ||
         (op.opcode() == Opcode::kReshape && SameButUnitDims(op.operand(0)->shape(), op.shape()));
}

}  // namespace toroid
