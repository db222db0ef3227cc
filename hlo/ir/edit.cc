#include "hlo/ir/edit.h"

#include <functional>
#include <queue>

#include "absl/strings/str_cat.h"

namespace toroid {

void ReplaceUses(const Instruction* old, Instruction* now) {
  std::vector<Instruction*> by_index(now->computation()->size(), nullptr);
  by_index[old->index()] = now;
  ReplaceUses(now->computation(), by_index);
}

void ReplaceUses(Computation* computation, absl::Span<Instruction* const> now) {
  std::vector<bool> is_new(computation->size(), false);
  const auto instead_of = [&](const Instruction* i) -> Instruction* {
    return i->index() < static_cast<int>(now.size()) ? now[i->index()] : nullptr;
  };
  for (const Instruction* instruction : now) {
    if (instruction != nullptr) is_new[instruction->index()] = true;
  }
  for (const auto& user : computation->instructions()) {
    if (is_new[user->index()]) continue;
    for (int i = 0; i < user->num_operands(); ++i) {
      if (Instruction* other = instead_of(user->operand(i))) user->set_operand(i, other);
    }
    bool changed = false;
    std::vector<Instruction*> before(user->control_predecessors().begin(), user->control_predecessors().end());
    for (Instruction*& predecessor : before) {
      Instruction* other = instead_of(predecessor);
      if (other == nullptr) continue;
      predecessor = other;
      changed = true;
    }
    if (!changed) continue;
    user->clear_control_predecessors();
    for (Instruction* predecessor : before) user->AddControlPredecessor(predecessor);
  }
  if (Instruction* root = instead_of(computation->root())) computation->set_root(root);
}

absl::Status SortInstructions(Computation* computation) {
  const int n = computation->size();
  std::vector<int> waits_for(n, 0);
  std::vector<std::vector<int>> unblocks(n);
  for (const auto& instruction : computation->instructions()) {
    const auto wait = [&](const Instruction* before) {
      ++waits_for[instruction->index()];
      unblocks[before->index()].push_back(instruction->index());
    };
    for (const Instruction* operand : instruction->operands()) wait(operand);
    for (const Instruction* predecessor : instruction->control_predecessors()) wait(predecessor);
  }
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int i = 0; i < n; ++i) {
    if (waits_for[i] == 0) ready.push(i);
  }
  std::vector<Instruction*> order;
  order.reserve(n);
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(computation->instruction(next));
    for (const int user : unblocks[next]) {
      if (--waits_for[user] == 0) ready.push(user);
    }
  }
  for (int i = 0; i < n; ++i) {
    if (waits_for[i] == 0) continue;
    return absl::InternalError(
        absl::StrCat(computation->instruction(i)->Path(), ": uses itself, directly or through its operands"));
  }
  computation->Reorder(order);
  return absl::OkStatus();
}

std::vector<Instruction*> CloneInstructions(const Computation& from, absl::Span<Instruction* const> arguments,
                                            Computation* to, const std::vector<bool>& keep) {
  std::vector<Instruction*> map(from.size(), nullptr);
  std::vector<Instruction*> operands;
  for (const auto& instruction : from.instructions()) {
    if (!keep.empty() && !keep[instruction->index()]) continue;
    if (instruction->opcode() == Opcode::kParameter && !arguments.empty()) {
      map[instruction->index()] = arguments[instruction->parameter_number()];
      continue;
    }
    operands.clear();
    for (const Instruction* operand : instruction->operands()) operands.push_back(map[operand->index()]);
    Instruction* clone = instruction->opcode() == Opcode::kParameter
                             ? to->AddParameter(instruction->shape())
                             : to->AddClone(*instruction, instruction->shape(), operands);
    if (instruction->opcode() == Opcode::kParameter) {
      clone->set_attrs(&instruction->attrs());
      clone->set_metadata(instruction->metadata());
      clone->set_frontend_attributes(instruction->frontend_attributes());
    }
    clone->set_name(instruction->name());
    clone->set_sharding(instruction->sharding());
    clone->set_cause(instruction->cause());
    for (const Instruction* predecessor : instruction->control_predecessors()) {
      clone->AddControlPredecessor(map[predecessor->index()]);
    }
    map[instruction->index()] = clone;
  }
  return map;
}

}  // namespace toroid
