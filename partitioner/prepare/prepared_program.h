// The first stages of partitioning as data: a program made ready once, plans of shardings for it, and what they cost.
//
//   prepare     a flat module, its flow graph, its annotations, a planner        PrepareProgram
//   propagate   a sharding for every tensor                                      ProposeShardings
//   (evaluate   what a plan sends and computes, without writing a module         EvaluatePlan)
//   rewrite     the program of one partition                                     spmd_partitioner.h
//
// To compare candidates, prepare once, give a tensor a sharding, propose, evaluate:
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
#include "partitioner/prepare/given_shardings.h"
#include "partitioner/prepare/partition_options.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"
#include "partitioner/reshard/plan.h"

namespace toroid {

// The facts of one module that all plans share. The parts refer to each other, so the struct is never moved.
struct PreparedProgram {
  PreparedProgram() = default;
  PreparedProgram(const PreparedProgram&) = delete;

  std::unique_ptr<Module> flat;    // Without calls and mixed precision.
  std::vector<PassReport> passes;  // That made it so.
  std::unique_ptr<FlowGraph> graph;
  Annotations annotations;
  std::unique_ptr<ReshardPlanner> planner;
  int64_t num_replicas = 1;  // Of the whole mesh, each with programs of its own for all partitions.
  bool relabeled =
      false;  // The devices of all shardings were permuted (PartitionOptions::device_order_seed).
};

// How a program is written. Others than the first compute the same from values in another form: see the passes of these names.
enum class ProgramForm : uint8_t { kAsGiven, kUnmergedDims, kLateReversals };
absl::string_view NameOf(ProgramForm form);

// `given`: the instructions of the module whose sharding was given from outside.
// Errors: kInvalidArgument "computation/instruction: ..." for contradictory shardings; kUnimplemented for manual
// regions under a device order.
absl::StatusOr<std::unique_ptr<PreparedProgram>> PrepareProgram(const Module& module,
                                                                const PartitionOptions& options,
                                                                const GivenShardings& given = {},
                                                                ProgramForm form = ProgramForm::kAsGiven);

// By tensor of the flow graph.
using ShardingPlan = std::vector<Sharding>;

// By propagation from the annotations; partial only where parameters arrive so.
ShardingPlan ProposeShardings(const PreparedProgram& program);

// Asks for a sharding of one tensor, in the place of what was asked of it before.
// Errors: kInvalidArgument if its rank is not the tensor's, or if it cuts the devices where no sharding of the
// module does.
absl::Status GiveSharding(int tensor, const HloSharding& sharding, PreparedProgram* program);

// The work of one device under a plan: every op by the assignment that is best for it, with its operands and results
// where the plan has them; loops count with their trips where they show them. An estimate of what rewriting
// makes: that keeps values in several shardings and lets partial sums travel on.
struct PlanCost {
  double time = 0;  // By the cost model, in link bytes: what is sent, and memory traffic.
  double sent_bytes = 0;
  double matrix_flops = 0;
};
PlanCost EvaluatePlan(const PreparedProgram& program, const ShardingPlan& plan);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_PREPARED_PROGRAM_H_
