// A plan: all choices by which a module is partitioned, as one value.
//
// Whatever made a plan (propagation and op by op decisions, a search, a file), writing a module under it gives the same
// program. Plans of one module are compared, hashed, printed, read and replayed (plan_text.h).
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partitioner/plan/op_decision.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

struct Plan {
  ProgramForm form = ProgramForm::kAsGiven;  // The form of the program that it belongs to.
  ShardingPlan shardings;                    // By tensor of the flow graph.
  // By flow op: how it is computed. Empty for edges and for free values (IsMadeAnywhere), which each device computes in any
  // sharding. DecideGreedily decides ops that are not decided yet.
  std::vector<std::optional<OpDecision>> ops;
  // By tensor: a second sharding in which it is made before its users are computed.
  std::map<int, Sharding> early;

  // The decision for an op of the graph; null if there is none.
  const OpDecision* DecisionOf(const FlowGraph& graph, const FlowOp& op) const {
    const size_t i = static_cast<size_t>(&op - graph.ops().data());
    return i < ops.size() && ops[i] ? &*ops[i] : nullptr;
  }

  bool operator==(const Plan& other) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const Plan& plan) {
    h = H::combine(std::move(h), plan.form, plan.shardings);
    for (const auto& op : plan.ops) {
      h = H::combine(std::move(h), op.has_value());
      if (op) h = H::combine(std::move(h), op->assignment.factor_axes, op->passed_on.operands);
    }
    for (const auto& [tensor, sharding] : plan.early) h = H::combine(std::move(h), tensor, sharding);
    return h;
  }
};

// The name of each tensor of the flow graph: "computation/instruction", with {leaf} behind it if the result is a tuple, or
// "output{leaf}"; with #2, #3, .. behind it where instructions have one name.
std::vector<std::string> TensorNames(const PreparedProgram& program);

// Whether the program can be written under the plan.
// Errors: kInvalidArgument, with the tensor's name: a sharding of another rank, axes that are used twice or belong to a
// manual region, a parameter or result that the module annotates otherwise, a cut that the op has no local program for.
absl::Status CheckPlan(const PreparedProgram& program, const Plan& plan);

}  // namespace toroid
