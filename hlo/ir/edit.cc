#include "hlo/ir/edit.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/base/status.h"
#include "hlo/ir/topological_order.h"

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
    std::vector<Instruction*> before(user->control_predecessors().begin(),
                                     user->control_predecessors().end());
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
  if (computation->root() == nullptr) return;  // The computation is being built.
  if (Instruction* root = instead_of(computation->root())) computation->set_root(root);
}

namespace {

bool IsSorted(const Computation& computation) {
  for (const auto& instruction : computation.instructions()) {
    const auto is_late = [&](const Instruction* before) { return before->index() >= instruction->index(); };
    if (absl::c_any_of(instruction->operands(), is_late)) return false;
    if (absl::c_any_of(instruction->control_predecessors(), is_late)) return false;
  }
  return true;
}

}  // namespace

absl::Status SortInstructions(Computation* computation) {
  if (IsSorted(*computation)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<Instruction*> any_order, TopologicalOrder(*computation));
  // An instruction keeps its place, or takes that of its first user.
  std::vector<int> rank(computation->size());
  for (int i = 0; i < computation->size(); ++i) rank[i] = i;
  for (auto user = any_order.rbegin(); user != any_order.rend(); ++user) {
    const int of_user = rank[(*user)->index()];
    const auto move_up = [&](const Instruction* before) {
      rank[before->index()] = std::min(rank[before->index()], of_user);
    };
    absl::c_for_each((*user)->operands(), move_up);
    absl::c_for_each((*user)->control_predecessors(), move_up);
  }
  ASSIGN_OR_RETURN(const std::vector<Instruction*> order, TopologicalOrder(*computation, rank));
  computation->Reorder(order);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Instruction*>> CloneInstructions(const Computation& from, CloneStep step) {
  std::vector<Instruction*> map(from.size(), nullptr);
  std::vector<Instruction*> operands;
  for (const auto& instruction : from.instructions()) {
    operands.clear();
    for (const Instruction* operand : instruction->operands()) operands.push_back(map[operand->index()]);
    ASSIGN_OR_RETURN(map[instruction->index()], step(*instruction, &operands));
  }
  return map;
}

void CloneControlPredecessors(const Computation& from, absl::Span<Instruction* const> map) {
  for (const auto& instruction : from.instructions()) {
    Instruction* const clone = map[instruction->index()];
    for (const Instruction* predecessor : instruction->control_predecessors()) {
      Instruction* const before = map[predecessor->index()];
      if (clone != nullptr && before != nullptr && before != clone) clone->AddControlPredecessor(before);
    }
  }
}

namespace {

// Copies what AddClone leaves out.
void CopyNotes(const Instruction& instruction, Instruction* clone) {
  clone->set_name(instruction.name());
  clone->TakeSharding(instruction);
  clone->set_cause(instruction.cause());
}

Instruction* CloneParameter(const Instruction& parameter, Computation* to) {
  Instruction* clone = to->AddParameter(parameter.shape());
  clone->set_attrs(&parameter.attrs());
  clone->set_metadata(parameter.metadata());
  clone->set_frontend_attributes(parameter.frontend_attributes());
  return clone;
}

}  // namespace

std::vector<Instruction*> CloneInstructions(const Computation& from, absl::Span<Instruction* const> arguments,
                                            Computation* to, const std::vector<bool>& keep) {
  absl::StatusOr<std::vector<Instruction*>> map = CloneInstructions(
      from, [&](const Instruction& instruction, std::vector<Instruction*>* operands) -> Instruction* {
        if (!keep.empty() && !keep[instruction.index()]) return nullptr;
        const bool is_parameter = instruction.opcode() == Opcode::kParameter;
        if (is_parameter && !arguments.empty()) return arguments[instruction.parameter_number()];
        Instruction* clone = is_parameter ? CloneParameter(instruction, to)
                                          : to->AddClone(instruction, instruction.shape(), *operands);
        CopyNotes(instruction, clone);
        return clone;
      });
  std::vector<Instruction*> made = *map;
  if (!arguments.empty()) {
    // Arguments are no copies: they get no control predecessors.
    for (const Instruction* parameter : from.parameters()) made[parameter->index()] = nullptr;
  }
  CloneControlPredecessors(from, made);
  return *std::move(map);
}

void ReplaceCalled(Instruction* instruction, absl::FunctionRef<Computation*(const Computation*)> now) {
  if (instruction->called().empty()) return;
  std::vector<Computation*> called;
  for (const Computation* callee : instruction->called()) called.push_back(now(callee));
  instruction->set_called(called);
}

std::unique_ptr<Module> CloneModule(const Module& module) {
  auto clone = std::make_unique<Module>(module.name(), module);
  *clone->mutable_proto() = module.proto();
  clone->config() = module.config();
  for (size_t i = 1; i < module.causes().size(); ++i) clone->AddCause(module.causes()[i]);
  // All computations first: in a module that is being built, callees may be behind their callers.
  for (const auto& from : module.computations()) clone->AddComputation(from->name());
  for (const auto& from : module.computations()) {
    Computation* to = clone->computation(from->index());
    to->set_id(from->id());
    to->set_proto(from->proto());
    to->set_is_fusion(from->is_fusion());
    to->set_execution_thread(from->execution_thread());
    const absl::StatusOr<std::vector<Instruction*>> map =
        CloneInstructions(*from, [&](const Instruction& instruction, std::vector<Instruction*>* operands) {
          Instruction* copy = to->AddClone(instruction, instruction.shape(), *operands);
          CopyNotes(instruction, copy);
          copy->set_id(instruction.id());
          ReplaceCalled(copy, [&](const Computation* callee) { return clone->computation(callee->index()); });
          return copy;
        });
    CloneControlPredecessors(*from, *map);
    if (from->root() != nullptr) to->set_root((*map)[from->root()->index()]);
    TOROID_CHECK(to->CollectParameters().ok());
    if (from.get() == module.entry()) clone->set_entry(to);
  }
  return clone;
}

}  // namespace toroid
