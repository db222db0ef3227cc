#include "partitioner/rewrite/rewrite_state.h"

#include <algorithm>
#include <utility>

#include "partitioner/ops/op_families.h"

namespace toroid {

namespace {

absl::flat_hash_set<const Instruction*> SlicesReadThrough(const Module& module) {
  absl::flat_hash_set<const Instruction*> read_through, needed;
  for (const auto& computation : module.computations()) {
    needed.insert(computation->root());
    for (const auto& instruction : computation->instructions()) {
      const auto source = FamilyOf(instruction->opcode()).source;
      for (int k = 0; k < instruction->num_operands(); ++k) {
        const Instruction* operand = instruction->operand(k);
        if (operand->opcode() != Opcode::kSlice) continue;
        const bool is_through = source != nullptr && &source(*instruction, k) != operand;
        (is_through ? read_through : needed).insert(operand);
      }
    }
  }
  for (const Instruction* slice : needed) read_through.erase(slice);
  return read_through;
}

}  // namespace

RewriteState::RewriteState(const PreparedProgram& program, const ShardingPlan& plan,
                           const AssignmentPolicy& policy, const DecidedOps* decided, LocalValueHook hook,
                           Module* out)
    : program(program),
      module(*program.flat),
      graph(*program.graph),
      annotations(program.annotations),
      mesh(program.annotations.mesh),
      plan(plan),
      names(module, graph, annotations, program.relabeled),
      read_through(SlicesReadThrough(module)),
      out(out),
      copies(out),
      replications(module),
      values(program, plan, names, std::move(hook), copy_computation(), &replications),
      partial_sums(program, plan, &values),
      decider(program, plan, policy, decided, &values, &partial_sums) {
  spmd.module = out;
  spmd.mesh = &mesh;
  spmd.cost = &program.planner->cost();
  spmd.name_of = [this](const Instruction& instruction) { return names.NameOf(instruction); };
  // Collectives that are added get channel ids above those of the input.
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      spmd.channel = std::max(spmd.channel, instruction->attrs().channel_id());
    }
  }
}

}  // namespace toroid
