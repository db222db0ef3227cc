#include "partitioner/rewrite/rewrite_state.h"

#include <algorithm>
#include <utility>

namespace toroid {

RewriteState::RewriteState(const PreparedProgram& program, const Plan& plan, LocalValueHook hook, Module* out)
    : program(program),
      module(*program.flat),
      graph(*program.graph),
      annotations(program.annotations),
      mesh(program.annotations.mesh),
      decided(plan),
      plan(plan.shardings),
      names(module, graph, annotations, program.relabeled),
      out(out),
      replications(module),
      values(program, plan.shardings, names, std::move(hook), &replications) {
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
