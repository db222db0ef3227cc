#include "partitioner/stages/spmd_partitioner.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "partitioner/report/statistics.h"
#include "partitioner/stages/candidate.h"
#include "partitioner/stages/search.h"

namespace toroid {
namespace {

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

// Callers cannot always take arrays in unequal parts: where propagation would cut one so that nobody asked to
// cut, the program is partitioned again with even cuts alone there, and that one counts if it costs no more: for
// all such arrays, or else for outputs or parameters alone.
absl::Status TryEvenCuts(const PartitionOptions& options, PreparedProgram* program, Candidate* best) {
  const FlowGraph& graph = *program->graph;
  Annotations* annotations = &program->annotations;
  const std::vector<int> uneven = UnevenByChance(*program->flat, graph, *annotations, best->plan);
  if (uneven.empty()) return absl::OkStatus();
  const WholeRun run = WorkOfWholeRun(*best->partitioned.module);
  const absl::flat_hash_set<int> outputs(graph.outputs().begin(), graph.outputs().end());
  const auto is_output = [&](int t) { return outputs.contains(t); };
  enum Which { kAll, kOutputs, kParameters };
  for (const Which which : {kAll, kOutputs, kParameters}) {
    annotations->even.assign(graph.num_tensors(), false);
    bool any = false;
    for (const int t : uneven) {
      const bool chosen = which == kAll || (which == kOutputs && is_output(t)) ||
                          (which == kParameters && !is_output(t));
      annotations->even[t] = chosen;
      any |= chosen;
    }
    if (!any) continue;
    ASSIGN_OR_RETURN(Candidate even, Rewrite(*program, options));
    if (!WorkOfWholeRun(*even.partitioned.module).CostsNoMoreThan(run)) continue;
    *best = std::move(even);
    return absl::OkStatus();
  }
  annotations->even.clear();
  return absl::OkStatus();
}

// Programs of up to so many instructions are written more than once, to compare.
constexpr int64_t kFewInstructions = 4096;

// A program that computes at most so much of the flops may send so much more.
constexpr double kFewFlops = 0.5, kLittleMore = 1.05;

// Cuts contractions over idle axes, if the program then computes less and sends no more, or far less and little more.
absl::Status TryIdleAxes(const PreparedProgram& program, const PartitionOptions& options, Candidate* best) {
  const WholeRun run = WorkOfWholeRun(*best->partitioned.module);
  if (run.flops == 0 || run.sent_bytes == 0) return absl::OkStatus();
  for (const IdleAxes idle_axes : {IdleAxes::kCutForFlops, IdleAxes::kCut}) {
    ASSIGN_OR_RETURN(Candidate idle, RewriteUnder(program, options, best->plan, CheapestAssignmentsOnIdleAxes(idle_axes)));
    const WholeRun now = WorkOfWholeRun(*idle.partitioned.module);
    const bool pays = now.flops <= kFewFlops * run.flops && now.sent_bytes <= kLittleMore * run.sent_bytes;
    if (pays || now.CostsLessThan(run)) {
      *best = std::move(idle);
      break;
    }
    if (now.flops == run.flops) break;  // No axis is idle.
  }
  return absl::OkStatus();
}

// The best of what is tried.
absl::StatusOr<Partitioned> RewriteBest(const PartitionOptions& options, PreparedProgram* program) {
  const Stopwatch start;
  PartitionOptions silent = options;
  silent.after_phase = nullptr;
  silent.verify = false;
  ASSIGN_OR_RETURN(Candidate best, Rewrite(*program, silent));
  const double propagate_seconds = best.partitioned.propagate_seconds;
  RETURN_IF_ERROR(TryEvenCuts(silent, program, &best));
  if (options.policy == nullptr && options.searched_instructions > 0 &&
      program->flat->NumInstructions() <= kFewInstructions) {
    RETURN_IF_ERROR(TryIdleAxes(*program, silent, &best));
    RETURN_IF_ERROR(SearchCandidates(silent, program, &best));
  }
  if (IsLookedAt(options)) {
    ASSIGN_OR_RETURN(best, RewriteUnder(*program, options, best.plan, *best.policy, &best.decided));
  }
  // What was tried and not taken took time as well.
  Partitioned result = std::move(best.partitioned);
  result.propagate_seconds = propagate_seconds;
  result.partition_seconds = start.Seconds() - propagate_seconds - result.optimize_seconds;
  return result;
}

}  // namespace

absl::StatusOr<Partitioned> PartitionModule(const Module& module, const PartitionOptions& options,
                                            const GivenShardings& given) {
  const Stopwatch start;
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedProgram> program, PrepareProgram(module, options, given));
  const double before = start.Seconds();
  ASSIGN_OR_RETURN(Partitioned result, RewriteBest(options, program.get()));
  result.propagate_seconds += before;
  return result;
}

}  // namespace toroid
