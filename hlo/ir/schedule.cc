#include "hlo/ir/schedule.h"

#include "absl/container/flat_hash_map.h"

namespace toroid {
namespace {

// Empty if `ids` is not a legal order.
std::vector<const Instruction*> InOrder(const Computation& computation,
                                        const google::protobuf::RepeatedField<int64_t>& ids) {
  if (ids.size() != computation.size()) return {};
  // The low 32 bits of an id are unique in its computation. A schedule may hold whole ids or the low bits.
  absl::flat_hash_map<uint32_t, const Instruction*> by_id;
  for (const auto& instruction : computation.instructions()) {
    by_id.emplace(static_cast<uint32_t>(instruction->id()), instruction.get());
  }
  std::vector<const Instruction*> order;
  std::vector<bool> done(computation.size(), false);
  for (const int64_t id : ids) {
    const auto it = by_id.find(static_cast<uint32_t>(id));
    if (it == by_id.end() || done[it->second->index()]) return {};
    for (const Instruction* operand : it->second->operands()) {
      if (!done[operand->index()]) return {};
    }
    for (const Instruction* predecessor : it->second->control_predecessors()) {
      if (!done[predecessor->index()]) return {};
    }
    done[it->second->index()] = true;
    order.push_back(it->second);
  }
  return order;
}

}  // namespace

bool IsScheduled(const Module& module) {
  return module.config().is_scheduled || module.proto().has_schedule();
}

std::vector<const Instruction*> ExecutionOrder(const Computation& computation) {
  std::vector<const Instruction*> order;
  const auto& sequences = computation.module()->proto().schedule().sequences();
  const auto sequence = sequences.find(computation.id());
  if (sequence != sequences.end()) order = InOrder(computation, sequence->second.instruction_ids());
  if (order.empty()) {
    for (const auto& instruction : computation.instructions()) order.push_back(instruction.get());
  }
  return order;
}

}  // namespace toroid
