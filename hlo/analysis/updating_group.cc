#include "hlo/analysis/updating_group.h"

#include "absl/algorithm/container.h"
#include "hlo/ir/module.h"

namespace toroid {

int UpdatedOperand(const Instruction& op) {
  if (op.opcode() != Opcode::kFusion || op.called().empty()) return -1;
  const Computation& group = *op.called(0);
  const Instruction* root = group.root();
  if (root == nullptr || root->opcode() != Opcode::kDynamicUpdateSlice) return -1;
  const Instruction* updated = root->operand(0);
  if (updated->opcode() != Opcode::kParameter) return -1;
  for (const auto& inner : group.instructions()) {
    const auto uses = absl::c_count(inner->operands(), updated);
    if (uses > (inner.get() == root ? 1 : 0)) return -1;
  }
  return static_cast<int>(updated->parameter_number());
}

}  // namespace toroid
