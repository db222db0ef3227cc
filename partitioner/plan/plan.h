// A plan: all choices by which a module is partitioned, as one value.
//
// Whatever made a plan (propagation and op by op decisions, a search, a file), writing a module under it gives the same
// program. Plans of one module are compared, hashed, printed, read and replayed (plan_text.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// Operands that an op takes partial, and the axes and the reducer that they have in common.
struct PartialOperands {
  uint32_t operands = 0;  // Bit i: operand i.
  AxisSet axes = 0;       // Over which they are partial.
  Reducer reducer = Reducer::kAdd;

  bool none() const { return operands == 0; }
  bool Has(size_t operand) const { return operand < 32 && (operands >> operand & 1) != 0; }
  bool operator==(const PartialOperands& other) const = default;
};

// How a device computes an op: which axes cut its factors, and which operands it takes as partial sums.
struct OpDecision {
  FactorAxesList factor_axes;
  PartialOperands passed_on;  // Taken unreduced; the result is partial over their axes.

  bool operator==(const OpDecision& other) const = default;
};

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
      if (op) h = H::combine(std::move(h), op->factor_axes, op->passed_on.operands);
    }
    for (const auto& [tensor, sharding] : plan.early) h = H::combine(std::move(h), tensor, sharding);
    return h;
  }
};

// The shardings in which an op needs an operand and computes a result, under a decision.
Sharding OperandSharding(const PreparedProgram& program, const FlowOp& op, size_t operand,
                         const OpDecision& decision);
Sharding ResultSharding(const PreparedProgram& program, const FlowOp& op, size_t result,
                        const OpDecision& decision);

// True if the op may take the operands of `partial`, and no others, partial: it is linear in them together,
// under their reducer. Operands that would have to be partial as well may instead be constant zeros, the
// missing terms of a sum.
bool MayPassOn(const Instruction& instruction, const FlowOp& op, const PartialOperands& partial);

// Whether the local program of an op can cut factor `factor` over `axes`.
bool MayCut(const Mesh& mesh, const FlowOp& op, int factor, const AxisList& axes);

// The bytes of a device's shard of a tensor.
int64_t LocalBytes(const PreparedProgram& program, int tensor, const Sharding& sharding);

// The name of each tensor of the flow graph: "computation/instruction", with {leaf} behind it if the result is a tuple, or
// "output{leaf}"; with #2, #3, .. behind it where instructions have one name.
std::vector<std::string> TensorNames(const PreparedProgram& program);

// Whether the program can be written under the plan.
// Errors: kInvalidArgument, with the tensor's name: a sharding of another rank, axes that are used twice or belong to a
// manual region, a parameter or result that the module annotates otherwise, a cut that the op has no local program for.
absl::Status CheckPlan(const PreparedProgram& program, const Plan& plan);

}  // namespace toroid
