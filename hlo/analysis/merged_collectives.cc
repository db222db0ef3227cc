#include "hlo/analysis/merged_collectives.h"

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/cause_attribute.h"

namespace toroid {

namespace {

bool IsDone(Opcode opcode) {
  return opcode == Opcode::kAllReduceDone || opcode == Opcode::kAllGatherDone ||
         opcode == Opcode::kCollectivePermuteDone;
}

}  // namespace

MergedCollectives::MergedCollectives(const Computation& computation) {
  absl::flat_hash_set<const Instruction*> taken_whole = {computation.root()};
  for (const auto& op : computation.instructions()) {
    if (op->opcode() != Opcode::kGetTupleElement) {
      for (const Instruction* operand : op->operands()) {
        if (operand->num_operands() > 1 && IsCollective(operand->opcode()) && !IsDone(op->opcode()))
          taken_whole.insert(operand);
      }
      continue;
    }
    const Instruction* all = op->operand(0);
    const Shape& results = all->shape();
    if (IsDone(all->opcode())) all = all->operand(0);  // From the done to its start.
    const int64_t n = all->num_operands(), k = op->tuple_index();
    if (n < 2 || !IsCollective(all->opcode()) || k < 0 || k >= n || !results.IsTuple() ||
        static_cast<int64_t>(results.tuple_shapes().size()) != n) {
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
