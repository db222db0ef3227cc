#include "hlo/passes/dce_pass.h"

#include <vector>

namespace toroid {

bool HasSideEffect(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kUnknown:
      return true;
    case Opcode::kCustomCall:
      return instruction.attrs().custom_call_has_side_effect();
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
      for (const Computation* callee : instruction.called()) {
        for (const auto& inner : callee->instructions()) {
          if (HasSideEffect(*inner)) return true;
        }
      }
      return false;
    default:
      return false;
  }
}

bool EliminateDeadCode(Module* module) {
  bool changed = false;
  for (const auto& computation : module->computations()) {
    std::vector<bool> live(computation->size(), false);
    for (int i = computation->size() - 1; i >= 0; --i) {
      const Instruction& instruction = *computation->instruction(i);
      if (!live[i]) {
        live[i] = &instruction == computation->root() || instruction.opcode() == Opcode::kParameter ||
                  HasSideEffect(instruction);
      }
      if (!live[i]) {
        changed = true;
        continue;
      }
      for (const Instruction* operand : instruction.operands()) live[operand->index()] = true;
      for (const Instruction* predecessor : instruction.control_predecessors())
        live[predecessor->index()] = true;
    }
    computation->Keep(live);
  }
  module->RemoveUnreachableComputations();
  return changed;
}

}  // namespace toroid
