#include "partitioner/rewrite/computation_copies.h"

#include <vector>

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"

namespace toroid {

Computation* ComputationCopies::CopyOf(const Computation* computation) {
  const auto known = copies_.find(computation);
  if (known != copies_.end()) return known->second;
  Computation* copy = module_->AddComputation(computation->name());
  std::vector<Instruction*> map(computation->size());
  for (const auto& instruction : computation->instructions()) {
    if (IsShardingAnnotation(*instruction)) {
      map[instruction->index()] = map[instruction->operand(0)->index()];
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* operand : instruction->operands()) operands.push_back(map[operand->index()]);
    Instruction* clone = copy->AddClone(*instruction, instruction->shape(), operands);
    clone->set_name(instruction->name());
    std::vector<Computation*> called;
    for (const Computation* callee : instruction->called()) called.push_back(CopyOf(callee));
    clone->set_called(called);
    map[instruction->index()] = clone;
  }
  copy->set_root(map[computation->root()->index()]);
  TOROID_CHECK(copy->CollectParameters().ok());
  copies_.emplace(computation, copy);
  return copy;
}

}  // namespace toroid
