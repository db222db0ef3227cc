#include "hlo/ir/replace_instructions.h"

#include <algorithm>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/topological_order.h"

namespace toroid {
namespace {

// By index: the rank of each instruction in the new order. An old one keeps its index; a new one takes the
// least index of an old one that it or a user of it replaces.
std::vector<int> Places(const Computation& computation, absl::Span<Instruction* const> now) {
  std::vector<int> place(computation.size(), computation.size());
  const int old = static_cast<int>(now.size());
  for (int i = 0; i < old; ++i) {
    place[i] = i;
    if (now[i] == nullptr || now[i]->index() < old) continue;
    int& of_new = place[now[i]->index()];
    of_new = std::min(of_new, i);
  }
  for (int i = computation.size() - 1; i >= old; --i) {
    for (const Instruction* operand : computation.instruction(i)->operands()) {
      if (operand->index() >= old) place[operand->index()] = std::min(place[operand->index()], place[i]);
    }
  }
  return place;
}

}  // namespace

absl::Status ReplaceInstructions(Computation* computation, absl::Span<Instruction* const> now) {
  ReplaceUses(computation, now);
  // ReplaceUses does not change the operands of the replacements.
  const int old = static_cast<int>(now.size());
  for (int i = 0; i < computation->size(); ++i) {
    Instruction* op = computation->instruction(i);
    for (int k = 0; k < op->num_operands(); ++k) {
      const int o = op->operand(k)->index();
      if (o < old && now[o] != nullptr) op->set_operand(k, now[o]);
    }
  }
  ASSIGN_OR_RETURN(const std::vector<Instruction*> order,
                   TopologicalOrder(*computation, Places(*computation, now)));
  computation->Reorder(order);
  return absl::OkStatus();
}

absl::Status ReplaceAndDrop(Computation* computation, absl::Span<Instruction* const> now) {
  std::vector<const Instruction*> old;
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] != nullptr) old.push_back(computation->instruction(static_cast<int>(i)));
  }
  RETURN_IF_ERROR(ReplaceInstructions(computation, now));
  std::vector<bool> keep(computation->size(), true);
  for (const Instruction* op : old) keep[op->index()] = false;
  for (const auto& op : computation->instructions()) {
    for (const Instruction* before : op->control_predecessors()) keep[before->index()] = true;
  }
  computation->Keep(keep);
  return absl::OkStatus();
}

absl::StatusOr<bool> ReplaceEach(Module* module,
                                 absl::FunctionRef<absl::StatusOr<Instruction*>(Instruction* op)> make) {
  bool changed = false;
  const int count = module->num_computations();
  for (int c = 0; c < count; ++c) {
    Computation* computation = module->computation(c);
    std::vector<Instruction*> now(computation->size(), nullptr);
    bool here = false;
    for (size_t i = 0; i < now.size(); ++i) {
      ASSIGN_OR_RETURN(now[i], make(computation->instruction(static_cast<int>(i))));
      here |= now[i] != nullptr;
    }
    if (!here) continue;
    RETURN_IF_ERROR(ReplaceInstructions(computation, now));
    changed = true;
  }
  return changed;
}

}  // namespace toroid
