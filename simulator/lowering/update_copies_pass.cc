#include "simulator/lowering/update_copies_pass.h"

#include <vector>

#include "hlo/analysis/peak_memory.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"

namespace toroid {

absl::StatusOr<bool> UpdateCopiesPass::Run(std::unique_ptr<Module>* module) {
  Computation* entry = (*module)->entry();
  const std::vector<bool> donated = DonatedParameters(**module);
  bool changed = false;
  const int n = entry->size();
  for (int i = 0; i < n; ++i) {
    Instruction* op = entry->instruction(i);
    if ((op->opcode() != Opcode::kDynamicUpdateSlice && op->opcode() != Opcode::kScatter) || op->num_operands() < 3) continue;
    Instruction* updated = op->operand(0);
    const Instruction* source = updated;
    while (source->opcode() == Opcode::kReshape || source->opcode() == Opcode::kTranspose || source->opcode() == Opcode::kBitcast) {
      source = source->operand(0);
    }
    if (source->opcode() != Opcode::kParameter) continue;
    const int64_t number = source->parameter_number();
    if (number < static_cast<int64_t>(donated.size()) && donated[number]) continue;
    Instruction* copy = entry->Add(Opcode::kCopy, updated->shape(), {updated});
    copy->set_metadata(op->metadata());
    op->set_operand(0, copy);
    changed = true;
  }
  if (changed) RETURN_IF_ERROR(SortInstructions(entry));
  return changed;
}

}  // namespace toroid
