#include "partitioner/spmd/computation_copies.h"

#include <vector>

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"

namespace toroid {

Computation* ComputationCopies::CopyOf(const Computation* computation) {
  const auto known = copies_.find(computation);
  if (known != copies_.end()) return known->second;
  Computation* copy = module_->AddComputation(computation->name());
  const absl::StatusOr<std::vector<Instruction*>> map = CloneInstructions(
      *computation, [&](const Instruction& instruction, std::vector<Instruction*>* operands) {
        if (IsShardingAnnotation(instruction)) return operands->front();
        Instruction* clone = copy->AddClone(instruction, instruction.shape(), *operands);
        clone->set_name(instruction.name());
        ReplaceCalled(clone, [this](const Computation* callee) { return CopyOf(callee); });
        return clone;
      });
  copy->set_root((*map)[computation->root()->index()]);
  TOROID_CHECK(copy->CollectParameters().ok());
  copies_.emplace(computation, copy);
  return copy;
}

}  // namespace toroid
