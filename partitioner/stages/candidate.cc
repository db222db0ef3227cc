#include "partitioner/stages/candidate.h"

#include <utility>

#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/passes/pass.h"
#include "partitioner/rewrite/program_rewriter.h"
#include "partitioner/stages/local_passes.h"
#include "partitioner/stages/record_partitioning.h"

namespace toroid {
namespace {

// Sets the sharding of every array on its instruction, for dumps.
void ShowShardings(const FlowGraph& graph, const Mesh& mesh, const std::vector<Sharding>& targets,
                   Module* module) {
  for (const auto& computation : module->computations()) {
    for (const auto& instruction : computation->instructions()) {
      const auto leaves = graph.Leaves(*instruction);
      if (leaves.size() != 1 || !instruction->shape().IsArray()) continue;
      auto* sharding = module->New<xla::OpSharding>();
      mesh.ToHlo(targets[leaves[0]]).ToProto(sharding);
      instruction->set_sharding(sharding);
    }
  }
}

// The tensors of the entry's parameters.
std::vector<int> ParameterLeaves(const Module& module, const FlowGraph& graph) {
  std::vector<int> leaves;
  for (const Instruction* parameter : module.entry()->parameters()) {
    for (const int leaf : graph.Leaves(*parameter)) leaves.push_back(leaf);
  }
  return leaves;
}

ShardingPlan Propagate(const PreparedProgram& program, const AssignmentPolicy& policy) {
  ShardingPlan plan = ProposeShardings(program);
  policy.AdjustPlan(AtBoundary(program), &plan);
  return plan;
}

}  // namespace

std::vector<int> BoundaryTensors(const Module& module, const FlowGraph& graph) {
  std::vector<int> tensors = ParameterLeaves(module, graph);
  tensors.insert(tensors.end(), graph.outputs().begin(), graph.outputs().end());
  return tensors;
}

bool IsLookedAt(const PartitionOptions& options) { return options.after_phase || options.verify; }

const AssignmentPolicy& PolicyOf(const PartitionOptions& options) {
  return options.policy != nullptr ? *options.policy : CheapestAssignments();
}

std::vector<bool> AtBoundary(const PreparedProgram& program) {
  std::vector<bool> at_boundary(program.graph->num_tensors(), false);
  for (const int t : BoundaryTensors(*program.flat, *program.graph)) at_boundary[t] = true;
  return at_boundary;
}

void FixBoundary(const ShardingPlan& plan, PreparedProgram* program) {
  for (const int t : BoundaryTensors(*program->flat, *program->graph)) {
    std::optional<Annotation>& annotation = program->annotations.tensor[t];
    if (annotation && annotation->foreign) continue;
    Annotation fixed;
    fixed.sharding = plan[t];
    fixed.closed = ~uint64_t{0};
    annotation = std::move(fixed);
  }
}

absl::StatusOr<Candidate> RewriteUnder(const PreparedProgram& program, const PartitionOptions& options,
                                       ShardingPlan plan, const AssignmentPolicy& policy,
                                       const DecidedOps* decided) {
  Module* flat = program.flat.get();
  const Annotations& annotations = program.annotations;
  Candidate candidate;
  Partitioned& result = candidate.partitioned;
  if (IsLookedAt(options)) {
    ShowShardings(*program.graph, annotations.mesh, plan, flat);
    RETURN_IF_ERROR(LookAfter("propagate", *flat, options.Looking()));
  }

  const Stopwatch middle;
  RewriteOptions rewrite;
  rewrite.policy = &policy;
  rewrite.decided = decided;
  rewrite.on_local_value = options.on_local_value;
  ASSIGN_OR_RETURN(RewrittenProgram rewritten, RewriteProgram(program, plan, rewrite));
  result.module = std::move(rewritten.module);
  for (size_t i = 0; i < rewritten.outputs.size(); ++i)
    plan[program.graph->outputs()[i]] = rewritten.outputs[i];
  RecordPartitioning(program, plan, result.module.get());
  result.num_partitions = annotations.mesh.num_devices();
  result.cuts = std::move(rewritten.cuts);
  result.full_replications = std::move(rewritten.full_replications);
  result.made_up_axes = std::move(rewritten.made_up_axes);
  result.partition_seconds = middle.Seconds();
  RETURN_IF_ERROR(LookAfter("partition", *result.module, options.Looking()));

  const Stopwatch end;
  ASSIGN_OR_RETURN(PassPipeline passes, MakePipeline(options.passes, LocalPasses()));
  ASSIGN_OR_RETURN(const std::vector<PassReport> reports, passes.Run(&result.module, options.Looking()));
  result.passes = program.passes;
  result.passes.insert(result.passes.end(), reports.begin(), reports.end());
  result.optimize_seconds = end.Seconds();
  candidate.plan = std::move(plan);
  candidate.policy = &policy;
  candidate.decisions = std::move(rewritten.decisions);
  return candidate;
}

absl::StatusOr<Candidate> Rewrite(const PreparedProgram& program, const PartitionOptions& options) {
  const Stopwatch start;
  ShardingPlan plan = Propagate(program, PolicyOf(options));
  const double seconds = start.Seconds();
  ASSIGN_OR_RETURN(Candidate candidate, RewriteUnder(program, options, std::move(plan), PolicyOf(options)));
  candidate.partitioned.propagate_seconds = seconds;
  return candidate;
}

}  // namespace toroid
