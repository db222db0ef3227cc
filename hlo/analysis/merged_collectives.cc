#include "hlo/analysis/merged_collectives.h"

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/cause_attribute.h"

namespace toroid {

MergedCollectives::MergedCollectives(const Computation& computation) {
  absl::flat_hash_set<const Instruction*> taken_whole = {computation.root()};
  for (const auto& op : computation.instructions()) {
    if (op->opcode() != Opcode::kGetTupleElement) {
      for (const Instruction* operand : op->operands()) {
        if (operand->num_operands() > 1 && IsCollective(operand->opcode())) taken_whole.insert(operand);
      }
      continue;
    }
    const Instruction* all = op->operand(0);
    const int64_t n = all->num_operands(), k = op->tuple_index();
    if (n < 2 || !IsCollective(all->opcode()) || k < 0 || k >= n || !all->shape().IsTuple() ||
        static_cast<int64_t>(all->shape().tuple_shapes().size()) != n) {
      continue;
    }
    if (op->cause() == 0 && op->FrontendAttribute(kCauseAttribute) == nullptr) continue;
    std::vector<const Instruction*>& elements = elements_[all];
    elements.resize(n, nullptr);
    elements[k] = op.get();
  }
  for (const Instruction* whole : taken_whole) elements_.erase(whole);
}

}  // namespace toroid
