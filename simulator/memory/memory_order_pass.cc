#include "simulator/memory/memory_order_pass.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "hlo/analysis/peak_memory.h"

namespace toroid {
namespace {

// The computation's instructions with the steps in `best.order`. A name of an array (get-tuple-element, bitcast, ..) takes
// part in no order of memory; it comes with the first op that reads it.
std::vector<Instruction*> WithNames(const Computation& computation, const OrderedSteps& best) {
  std::vector<Instruction*> order;
  std::vector<bool> placed(computation.size(), false);
  const auto place = [&](int i) {
    std::vector<int> path = {i};
    while (!path.empty()) {
      Instruction* op = computation.instruction(path.back());
      const auto waits_for = [&](absl::Span<Instruction* const> others) {
        const auto* missing =
            absl::c_find_if(others, [&](const Instruction* o) { return !placed[o->index()]; });
        if (missing == others.end()) return false;
        path.push_back((*missing)->index());
        return true;
      };
      if (placed[op->index()]) {
        path.pop_back();
      } else if (!waits_for(op->operands()) && !waits_for(op->control_predecessors())) {
        placed[op->index()] = true;
        order.push_back(op);
        path.pop_back();
      }
    }
  };
  for (const Instruction* parameter : computation.parameters()) place(parameter->index());
  for (const int step : best.order) {
    const Instruction& op = *best.steps.steps[step].op;
    if (!HasTrait(op.opcode(), kNoStorage)) place(op.index());
  }
  for (int i = 0; i < computation.size(); ++i) place(i);
  return order;
}

}  // namespace

absl::StatusOr<bool> MemoryOrderPass::Run(std::unique_ptr<Module>* module) {
  const ArraySize size = LeastPaddedSize(tiling_);
  const std::vector<OrderedSteps> ordered = OrderForLittleMemory(**module, &size);
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    const OrderedSteps& best = ordered[computation->index()];
    if (computation->is_fusion() || std::is_sorted(best.order.begin(), best.order.end())) continue;
    computation->Reorder(WithNames(*computation, best));
    changed = true;
  }
  return changed;
}

}  // namespace toroid
