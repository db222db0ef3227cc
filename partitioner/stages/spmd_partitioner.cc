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

WholeRun WorkOf(const Candidate& candidate) { return WorkOfWholeRun(*candidate.partitioned.module); }

// Callers cannot always take arrays in unequal parts: where propagation would cut one so that nobody asked to
// cut, the program is partitioned again with even cuts alone there, and that one counts if it costs no more: for
// all such arrays, or else for outputs or parameters alone.
absl::Status TryEvenCuts(const PartitionOptions& options, PreparedProgram* program, Candidate* best) {
  const FlowGraph& graph = *program->graph;
  Annotations* annotations = &program->annotations;
  const std::vector<int> uneven = UnevenByChance(*program->flat, graph, *annotations, best->plan);
  if (uneven.empty()) return absl::OkStatus();
  const WholeRun run = WorkOf(*best);
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
    if (!WorkOf(even).CostsNoMoreThan(run)) continue;
    *best = std::move(even);
    return absl::OkStatus();
  }
  annotations->even.clear();
  return absl::OkStatus();
}

// Programs of up to so many instructions are written more than once, to compare.
constexpr int64_t kFewInstructions = 4096;

// A program may send or compute so much more than another one, if the product of both falls. Neither is worth a multiple of
// the other: programs are often tried out with small arrays, where what is sent outweighs what is computed, and used with
// large ones, where it is the other way round.
constexpr double kLittleMore = 1.09;

bool Pays(const Candidate& candidate, const Candidate& best) {
  const WholeRun now = WorkOf(candidate), run = WorkOf(best);
  return now.CostsLessThan(run) ||
         (now.flops <= kLittleMore * run.flops && now.sent_bytes <= kLittleMore * run.sent_bytes &&
          now.flops * now.sent_bytes < run.flops * run.sent_bytes);
}

// The program with contractions cut over idle axes, if that pays.
absl::StatusOr<std::optional<Candidate>> TryIdleAxes(const PreparedProgram& program, const PartitionOptions& options,
                                                     const Candidate& best) {
  const WholeRun run = WorkOf(best);
  if (run.flops == 0 || run.sent_bytes == 0) return std::nullopt;
  std::optional<Candidate> cut;
  for (const IdleAxes idle_axes : {IdleAxes::kCutForFewFlops, IdleAxes::kCutForFlops, IdleAxes::kCut}) {
    ASSIGN_OR_RETURN(Candidate idle, RewriteUnder(program, options, best.plan, CheapestAssignmentsOnIdleAxes(idle_axes)));
    if (WorkOf(idle).flops == run.flops) break;  // No axis is idle.
    if (Pays(idle, cut ? *cut : best)) cut = std::move(idle);
  }
  return cut;
}

// Searches from what was found, and from the same with contractions cut over idle axes: what is worse before a search may be
// better behind it.
absl::Status Search(const PartitionOptions& options, PreparedProgram* program, Candidate* best) {
  ASSIGN_OR_RETURN(std::optional<Candidate> other, TryIdleAxes(*program, options, *best));
  if (other && WorkOf(*other).CostsLessThan(WorkOf(*best))) std::swap(*other, *best);
  auto early = program->annotations.early;
  RETURN_IF_ERROR(SearchCandidates(options, program, best));
  if (!other) return absl::OkStatus();
  std::swap(early, program->annotations.early);
  RETURN_IF_ERROR(SearchCandidates(options, program, &*other));
  if (Pays(*other, *best)) {
    *best = *std::move(other);
  } else {
    std::swap(early, program->annotations.early);
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
    RETURN_IF_ERROR(Search(silent, program, &best));
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
