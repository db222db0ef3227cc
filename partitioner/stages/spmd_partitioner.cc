#include "partitioner/stages/spmd_partitioner.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "partitioner/plan/plan_text.h"
#include "partitioner/report/statistics.h"
#include "partitioner/stages/candidate.h"
#include "partitioner/stages/forms_to_try.h"
#include "partitioner/stages/search.h"

namespace toroid {
namespace {

// The parameters and outputs that propagation cuts unevenly in a dimension for which no annotation asks for
// that cut.
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

// Callers cannot always take tiles of unequal size. So if propagation cuts parameters or outputs unevenly
// (UnevenByChance), this partitions the program again with these arrays cut evenly or not at all: first all
// of them, then the outputs alone, then the parameters alone. The first such candidate that costs no more
// than `*best` replaces it.
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
      const bool chosen =
          which == kAll || (which == kOutputs && is_output(t)) || (which == kParameters && !is_output(t));
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

// Programs of at most this many instructions are searched: candidates are written and compared.
constexpr int64_t kFewInstructions = 4096;

// A candidate may send or compute up to 9 % more than the best program if the product of bytes and flops
// falls. Neither has a fixed price in the other: programs are often tried with small arrays, where bytes
// dominate, and used with large ones, where flops do.
constexpr double kMaxGrowth = 1.09;

// `usual_bytes`: bytes that the first plan sends if every op is decided alone. While a candidate sends no
// more than that, a flop saved outweighs a byte sent.
bool Pays(const Candidate& candidate, const Candidate& best, double usual_bytes) {
  const WholeRun now = WorkOf(candidate), run = WorkOf(best);
  if (now.CostsLessThan(run)) return true;
  if (run.flops == 0 || run.sent_bytes == 0) return false;
  const double flops = now.flops / run.flops, sent = now.sent_bytes / run.sent_bytes;
  if (flops > kMaxGrowth) return false;
  if (sent <= kMaxGrowth) return sent * flops < 1;
  return now.sent_bytes <= usual_bytes && sent * flops * flops * flops < 1;
}

// Candidates with contractions cut over idle axes: the best one that pays without sending over 9 % more
// bytes, and, if it is another one, the best one that pays while it sends up to `usual_bytes`.
absl::StatusOr<std::vector<Candidate>> TryIdleAxes(const PreparedProgram& program,
                                                   const PartitionOptions& options, const Candidate& best,
                                                   double usual_bytes) {
  std::vector<Candidate> cut, paying;
  const WholeRun run = WorkOf(best);
  if (run.flops == 0 || run.sent_bytes == 0) return paying;
  for (const IdleAxes idle_axes : {IdleAxes::kCutForFewFlops, IdleAxes::kCutForFlops, IdleAxes::kCut}) {
    ASSIGN_OR_RETURN(Candidate idle,
                     RewriteUnder(program, options, best.plan, CheapestAssignmentsOnIdleAxes(idle_axes)));
    if (WorkOf(idle).flops == run.flops) break;  // No axis is idle.
    cut.push_back(std::move(idle));
  }
  const auto choose = [&](double usual_bytes) {
    int chosen = -1;
    for (int i = 0; i < static_cast<int>(cut.size()); ++i) {
      if (Pays(cut[i], chosen < 0 ? best : cut[chosen], usual_bytes)) chosen = i;
    }
    return chosen;
  };
  const int at_little = choose(0), at_more = choose(usual_bytes);
  if (at_little >= 0) paying.push_back(std::move(cut[at_little]));
  if (at_more >= 0 && at_more != at_little) paying.push_back(std::move(cut[at_more]));
  return paying;
}

// Searches from `*best`, and from candidates with contractions cut over idle axes: a candidate that is worse
// before its search may be better after it.
absl::Status Search(const PartitionOptions& options, double usual_bytes, PreparedProgram* program,
                    Candidate* best) {
  ASSIGN_OR_RETURN(std::vector<Candidate> others, TryIdleAxes(*program, options, *best, usual_bytes));
  for (Candidate& other : others) {
    if (WorkOf(other).CostsLessThan(WorkOf(*best))) std::swap(other, *best);
  }
  const auto early = program->annotations.early;
  RETURN_IF_ERROR(SearchCandidates(options, program, best));
  for (Candidate& other : others) {
    auto early_of_best = std::exchange(program->annotations.early, early);
    RETURN_IF_ERROR(SearchCandidates(options, program, &other));
    if (Pays(other, *best, usual_bytes)) {
      *best = std::move(other);
    } else {
      program->annotations.early = std::move(early_of_best);
    }
  }
  return absl::OkStatus();
}

// A program, and the best way found to partition it.
struct Found {
  std::unique_ptr<PreparedProgram> program;
  Candidate best;
  ProgramForm form = ProgramForm::kAsGiven;
  std::vector<ProgramForm> forms;  // Other forms to try.
  double usual_bytes = 0;
  double propagate_seconds = 0;
};

// Partitions the program, again with even cuts, and searches from there; returns the best candidate.
absl::StatusOr<Found> FindBest(std::unique_ptr<PreparedProgram> program, const PartitionOptions& options) {
  Found found;
  ASSIGN_OR_RETURN(found.best, Rewrite(*program, options));
  found.propagate_seconds = found.best.partitioned.propagate_seconds;
  const bool searches = options.policy == nullptr && options.searched_instructions > 0 &&
                        program->flat->NumInstructions() <= kFewInstructions;
  if (searches) {
    found.forms = FormsToTry(*program->graph, found.best.plan);
    found.usual_bytes = EvaluatePlan(*program, found.best.plan).sent_bytes;
  }
  RETURN_IF_ERROR(TryEvenCuts(options, program.get(), &found.best));
  if (searches) RETURN_IF_ERROR(Search(options, found.usual_bytes, program.get(), &found.best));
  found.program = std::move(program);
  return found;
}

ProgramNames NamesOf(const PreparedProgram& program) {
  return ProgramNames(*program.flat, *program.graph, program.annotations, program.relabeled);
}

// Writes the program of `options.plan`.
absl::StatusOr<Partitioned> PartitionByPlan(const Module& module, const PartitionOptions& options) {
  const Stopwatch start;
  ASSIGN_OR_RETURN(const ProgramForm form, FormOfPlan(options.plan));
  ASSIGN_OR_RETURN(const std::unique_ptr<PreparedProgram> program, PrepareProgram(module, options, form));
  ASSIGN_OR_RETURN(const Plan plan, ReadPlan(options.plan, *program, NamesOf(*program)));
  FixBoundary(plan.shardings, program.get());
  program->annotations.early.insert(plan.early.begin(), plan.early.end());
  const double propagate_seconds = start.Seconds();
  const DecidedOps decisions = DecisionsOf(*program, plan);
  ASSIGN_OR_RETURN(Candidate written,
                   RewriteUnder(*program, options, plan.shardings, PolicyOf(options), &decisions));
  Partitioned result = std::move(written.partitioned);
  if (options.states_plan) result.plan = options.plan;
  result.propagate_seconds = propagate_seconds;
  result.partition_seconds = start.Seconds() - propagate_seconds - result.optimize_seconds;
  return result;
}

}  // namespace

absl::StatusOr<Partitioned> PartitionModule(const Module& module, const PartitionOptions& options) {
  if (!options.plan.empty()) return PartitionByPlan(module, options);
  const Stopwatch start;
  PartitionOptions silent = options;
  silent.after_phase = nullptr;
  silent.verify = false;
  ASSIGN_OR_RETURN(std::unique_ptr<PreparedProgram> program, PrepareProgram(module, options));
  double propagate_seconds = start.Seconds();
  ASSIGN_OR_RETURN(Found found, FindBest(std::move(program), silent));
  propagate_seconds += found.propagate_seconds;
  const std::vector<ProgramForm> forms = found.forms;
  const double usual_bytes = found.usual_bytes;  // Of the form as given.
  for (const ProgramForm form : forms) {
    ASSIGN_OR_RETURN(program, PrepareProgram(module, silent, form));
    ASSIGN_OR_RETURN(Found other, FindBest(std::move(program), silent));
    if (!Pays(other.best, found.best, usual_bytes)) continue;
    found = std::move(other);
    found.form = form;
  }
  Candidate& best = found.best;
  std::string result_plan;
  if (IsLookedAt(options)) {
    if (found.form != ProgramForm::kAsGiven) {
      RETURN_IF_ERROR(LookAfter(NameOf(found.form), *found.program->flat, options.Looking()));
    }
    ASSIGN_OR_RETURN(best, RewriteUnder(*found.program, options, best.plan, *best.policy, &best.decided));
  }
  if (options.states_plan) {
    // Searches close the annotations of parameters and results; names come from the program as it was.
    ASSIGN_OR_RETURN(program, PrepareProgram(module, silent, found.form));
    result_plan = PlanText(*program, NamesOf(*program),
                           MakePlan(*found.program, found.form, best.plan, best.decisions));
  }
  // Includes the time spent on candidates that were not taken.
  Partitioned result = std::move(best.partitioned);
  result.plan = std::move(result_plan);
  result.propagate_seconds = propagate_seconds;
  result.partition_seconds = start.Seconds() - propagate_seconds - result.optimize_seconds;
  return result;
}

}  // namespace toroid
