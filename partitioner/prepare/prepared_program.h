// A program prepared once for all plans: a flat module, its flow graph, its annotations, a planner; and the shardings that
// propagation proposes for it.
//
//   ASSIGN_OR_RETURN(auto program, PrepareProgram(module, options));
//   for (const HloSharding& candidate : candidates) {
//     RETURN_IF_ERROR(GiveSharding(parameter_leaf, candidate, program.get()));
//     PlanMemo memo(*program);                                                         // ../plan/plan_memo.h
//     const std::optional<PricedPlan> plan = Propagated(CheapestAssignments(), &memo);  // ../search/strategies.h
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"
#include "partitioner/prepare/partition_options.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/propagation.h"

namespace toroid {

// The facts of one module that all plans share. The parts point to each other, so the struct cannot be moved.
struct PreparedProgram {
  PreparedProgram() = default;
  PreparedProgram(const PreparedProgram&) = delete;

  std::unique_ptr<Module> flat;    // The module after `passes`: without calls and mixed precision.
  std::vector<PassReport> passes;  // The passes that made `flat`.
  std::unique_ptr<FlowGraph> graph;
  Annotations annotations;
  // Slices that are not computed, since all their users read the sliced array instead
  // (../ops/row_moves.cc).
  absl::flat_hash_set<const Instruction*> read_through;
  std::unique_ptr<ReshardPlanner> planner;
  std::unique_ptr<ExchangePrices> exchanges;
  int64_t num_replicas = 1;  // Copies of the whole mesh; each runs all partitions.
  // Whether PartitionOptions::device_order_seed permuted the devices of all shardings.
  bool relabeled = false;

  Pricing pricing() const { return {&annotations.mesh, planner.get(), exchanges.get()}; }
};

// Equivalent forms of a program. kUnmergedDims and kLateReversals are the results of UnmergedDimsPass and
// LateReversalsPass.
enum class ProgramForm : uint8_t { kAsGiven, kUnmergedDims, kLateReversals };
absl::string_view NameOf(ProgramForm form);

// Errors: kInvalidArgument "computation/instruction: ..." for shardings that are malformed or contradict each
// other; kInvalidArgument for more than kMaxDevices devices; kUnimplemented for manual regions with a
// device_order_seed.
absl::StatusOr<std::unique_ptr<PreparedProgram>> PrepareProgram(const Module& module,
                                                                const PartitionOptions& options,
                                                                ProgramForm form = ProgramForm::kAsGiven);

// A sharding for each tensor of the flow graph.
using ShardingPlan = std::vector<Sharding>;

// Propagates annotations, the program's or others, to a plan. Only parameters that are annotated as partial sums are partial in
// it. `even`: by tensor, whether it may be cut only into equal parts; empty: no tensor is so restricted. `log`, if not null,
// gets what made each tensor's sharding grow.
ShardingPlan ProposeShardings(const PreparedProgram& program, const Annotations& annotations,
                              const std::vector<bool>& even = {}, GrowthLog* log = nullptr);

// Replaces the annotation of one tensor by a closed sharding.
// Errors: kInvalidArgument if its rank is not the tensor's, or if the mesh cannot express it, since no
// sharding of the module cuts the devices there.
absl::Status GiveSharding(int tensor, const HloSharding& sharding, PreparedProgram* program);

}  // namespace toroid
