#include "hlo/passes/windowed_einsum_pass.h"
#include "partitioner/stages/spmd_partitioner.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/passes/pass.h"
#include "partitioner/assign/assignment_policy.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/report/statistics.h"
#include "partitioner/rewrite/program_rewriter.h"
#include "partitioner/stages/local_passes.h"
#include "partitioner/stages/record_partitioning.h"

namespace toroid {
namespace {

// Puts the sharding of every array on its instruction, for looking at.
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

// Tensors of the entry's parameters.
std::vector<int> ParameterLeaves(const Module& module, const FlowGraph& graph) {
  std::vector<int> leaves;
  for (const Instruction* parameter : module.entry()->parameters()) {
    for (const int leaf : graph.Leaves(*parameter)) leaves.push_back(leaf);
  }
  return leaves;
}

// Tensors that the caller sees: parameters and outputs.
std::vector<int> BoundaryTensors(const Module& module, const FlowGraph& graph) {
  std::vector<int> tensors = ParameterLeaves(module, graph);
  tensors.insert(tensors.end(), graph.outputs().begin(), graph.outputs().end());
  return tensors;
}

bool IsLookedAt(const PartitionOptions& options) { return options.after_phase || options.verify; }

// Propagation and the phases behind it. `propagated`, if given, takes the shardings found.
absl::StatusOr<Partitioned> Rewrite(const PreparedProgram& program, const PartitionOptions& options,
                                    ShardingPlan* propagated) {
  Module* flat = program.flat.get();
  const FlowGraph& graph = *program.graph;
  const Annotations& annotations = program.annotations;
  Partitioned result;
  const Stopwatch start;
  ShardingPlan targets = ProposeShardings(program);
  std::vector<bool> at_boundary(graph.num_tensors(), false);
  for (const int t : BoundaryTensors(*flat, graph)) at_boundary[t] = true;
  const AssignmentPolicy& policy = options.policy != nullptr ? *options.policy : CheapestAssignments();
  policy.AdjustPlan(at_boundary, &targets);
  result.propagate_seconds = start.Seconds();
  if (IsLookedAt(options)) {
    ShowShardings(graph, annotations.mesh, targets, flat);
    RETURN_IF_ERROR(LookAfter("propagate", *flat, options.Looking()));
  }

  const Stopwatch middle;
  RewriteOptions rewrite;
  rewrite.policy = &policy;
  rewrite.on_local_value = options.on_local_value;
  ASSIGN_OR_RETURN(RewrittenProgram rewritten, RewriteProgram(program, targets, rewrite));
  result.module = std::move(rewritten.module);
  RecordPartitioning(program, targets, result.module.get());
  result.num_partitions = annotations.mesh.num_devices();
  result.full_replications = std::move(rewritten.full_replications);
  result.made_up_axes = std::move(rewritten.made_up_axes);
  result.partition_seconds = middle.Seconds();
  RETURN_IF_ERROR(LookAfter("partition", *result.module, options.Looking()));

  const Stopwatch end;
  PassPipeline first;
  if (options.windowed_einsum_bytes < INT64_MAX) first.Add<WindowedEinsumPass>(options.windowed_einsum_bytes);
  ASSIGN_OR_RETURN(PassPipeline listed, MakePipeline(options.passes, LocalPasses()));
  result.passes = program.passes;
  for (PassPipeline* pipeline : {&first, &listed}) {
    ASSIGN_OR_RETURN(const std::vector<PassReport> reports, pipeline->Run(&result.module, options.Looking()));
    result.passes.insert(result.passes.end(), reports.begin(), reports.end());
  }
  result.optimize_seconds = end.Seconds();
  if (propagated != nullptr) *propagated = std::move(targets);
  return result;
}

// Parameters and outputs of which nobody said how they lie, and that propagation cuts into unequal parts.
std::vector<int> UnevenByChance(const Module& flat, const FlowGraph& graph, const Annotations& annotations,
                                const std::vector<Sharding>& targets) {
  std::vector<int> uneven;
  for (const int t : BoundaryTensors(flat, graph)) {
    const Shape& shape = graph.shape(t);
    const std::optional<Annotation>& asked = annotations.tensor[t];
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) % annotations.mesh.Product(targets[t].dims[d]) == 0) continue;
      if (asked && asked->sharding.dims[d] == targets[t].dims[d]) continue;
      uneven.push_back(t);
      break;
    }
  }
  return uneven;
}

// True if `a` neither sends nor computes more than `b` on a device.
bool CostsNoMore(const Partitioned& a, const Partitioned& b) {
  const auto sent = [](const ProgramStatistics& statistics) {
    int64_t bytes = 0;
    for (const auto& [opcode, totals] : statistics.collectives) bytes += totals.sent_bytes;
    return bytes;
  };
  const ProgramStatistics x = ComputeStatistics(*a.module), y = ComputeStatistics(*b.module);
  return x.flops <= y.flops && sent(x) <= sent(y);
}

// Callers cannot always take arrays in unequal parts: where propagation would cut one so that nobody asked to
// cut, the program is partitioned again with even cuts alone there, and that one counts if it costs no more: for
// all such arrays, or else for outputs or parameters alone.
absl::StatusOr<Partitioned> RewriteEvenly(const PartitionOptions& options, PreparedProgram* program) {
  Module* flat = program->flat.get();
  const FlowGraph& graph = *program->graph;
  Annotations* annotations = &program->annotations;
  const Stopwatch start;
  PartitionOptions silent = options;
  silent.after_phase = nullptr;
  silent.verify = false;
  ShardingPlan targets;
  ASSIGN_OR_RETURN(Partitioned result, Rewrite(*program, silent, &targets));
  const std::vector<int> uneven = UnevenByChance(*flat, graph, *annotations, targets);
  if (!uneven.empty()) {
    const absl::flat_hash_set<int> outputs(graph.outputs().begin(), graph.outputs().end());
    const auto is_output = [&](int t) { return outputs.contains(t); };
    enum Which { kAll, kOutputs, kParameters, kNone };
    for (const Which which : {kAll, kOutputs, kParameters, kNone}) {
      annotations->even.assign(graph.num_tensors(), false);
      bool any = false;
      for (const int t : uneven) {
        const bool chosen = which == kAll || (which == kOutputs && is_output(t)) ||
                            (which == kParameters && !is_output(t));
        annotations->even[t] = chosen;
        any |= chosen;
      }
      if (!any) continue;
      ASSIGN_OR_RETURN(Partitioned even, Rewrite(*program, silent, nullptr));
      if (!CostsNoMore(even, result)) continue;
      result = std::move(even);
      break;
    }
  }
  if (IsLookedAt(options)) {
    ASSIGN_OR_RETURN(result, Rewrite(*program, options, nullptr));
  }
  // What was tried and not taken took time as well.
  result.partition_seconds += start.Seconds() - result.propagate_seconds - result.partition_seconds -
                              result.optimize_seconds;
  return result;
}

}  // namespace

absl::StatusOr<Partitioned> PartitionModule(const Module& module, const PartitionOptions& options,
                                            const GivenShardings& given) {
  const Stopwatch start;
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedProgram> program, PrepareProgram(module, options, given));
  const double before = start.Seconds();
  ASSIGN_OR_RETURN(Partitioned result, RewriteEvenly(options, program.get()));
  result.propagate_seconds += before;
  return result;
}

}  // namespace toroid
