// The first stages of partitioning: a program prepared once, sharding plans for it, and their costs.
//
//   prepare     a flat module, its flow graph, its annotations, a planner        PrepareProgram
//   propagate   a sharding for every tensor                                      ProposeShardings
//   (evaluate   the bytes and flops of a plan, without writing a module          EvaluatePlan)
//   rewrite     the program of one partition                                     spmd_partitioner.h
//
// To compare candidate shardings, prepare the module once; then, for each, set it, propose a plan and
// evaluate it:
//
//   ASSIGN_OR_RETURN(auto program, PrepareProgram(module, options));
//   for (const HloSharding& candidate : candidates) {
//     RETURN_IF_ERROR(GiveSharding(parameter_leaf, candidate, program.get()));
//     const PlanCost cost = EvaluatePlan(*program, ProposeShardings(*program));
//   }
#ifndef TOROID_PARTITIONER_PREPARE_PREPARED_PROGRAM_H_
#define TOROID_PARTITIONER_PREPARE_PREPARED_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"
#include "partitioner/prepare/partition_options.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"
#include "partitioner/reshard/plan.h"

namespace toroid {

// The facts of one module that all plans share. The parts point to each other, so the struct cannot be moved.
struct PreparedProgram {
  PreparedProgram() = default;
  PreparedProgram(const PreparedProgram&) = delete;

  std::unique_ptr<Module> flat;    // The module after `passes`: without calls and mixed precision.
  std::vector<PassReport> passes;  // The passes that made `flat`.
  std::unique_ptr<FlowGraph> graph;
  Annotations annotations;
  std::unique_ptr<ReshardPlanner> planner;
  int64_t num_replicas = 1;  // Copies of the whole mesh; each runs all partitions.
  // Whether PartitionOptions::device_order_seed permuted the devices of all shardings.
  bool relabeled = false;
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

// Propagates the annotations to a plan. Only parameters that are annotated as partial sums are partial in it.
ShardingPlan ProposeShardings(const PreparedProgram& program);

// Replaces the annotation of one tensor by a closed sharding.
// Errors: kInvalidArgument if its rank is not the tensor's, or if the mesh cannot express it, since no
// sharding of the module cuts the devices there.
absl::Status GiveSharding(int tensor, const HloSharding& sharding, PreparedProgram* program);

// The work of one device under a plan. Each op counts with its cheapest assignment, its operands and results
// being in the plan's shardings; ops in loops count once per trip, or once if the trip count is unknown. This
// estimates the rewritten program, which may also keep a value in several shardings and delay the reduction
// of partial sums.
struct PlanCost {
  double time = 0;  // Of communication and memory traffic, in the cost model's unit: bytes over a link.
  double sent_bytes = 0;
  double matrix_flops = 0;
};
PlanCost EvaluatePlan(const PreparedProgram& program, const ShardingPlan& plan);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_PREPARED_PROGRAM_H_
