#include "partitioner/propagation/free_values.h"

namespace toroid {

bool IsMadeAnywhere(const FlowGraph& graph, const FlowOp& op, absl::FunctionRef<bool(int tensor)> is_free,
                    absl::FunctionRef<bool(int tensor)> is_whole) {
  if (op.instruction == nullptr || op.results.size() != 1) return false;
  const Opcode opcode = op.instruction->opcode();
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kIota:
      return true;
    case Opcode::kBroadcast:
      return is_free(op.operands[0]) || is_whole(op.operands[0]);
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kReduce:
      break;
    default:
      if (!IsElementwise(opcode) || !op.instruction->called().empty()) return false;
  }
  // A scalar result has no dimension to cut.
  if (graph.shape(op.results[0]).rank() == 0) return false;
  for (const int operand : op.operands) {
    if (!is_free(operand) && !(graph.shape(operand).rank() == 0 && is_whole(operand))) return false;
  }
  return !op.operands.empty();
}

}  // namespace toroid
