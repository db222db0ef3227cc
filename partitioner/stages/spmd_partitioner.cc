#include "partitioner/stages/spmd_partitioner.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "partitioner/plan/plan_text.h"
#include "partitioner/search/find_plans.h"
#include "partitioner/search/strategies.h"
#include "partitioner/stages/emit_plan.h"

namespace toroid {
namespace {

// A program in one form, with its plans, the best first.
struct FormPlans {
  std::unique_ptr<PreparedProgram> program;
  FoundPlans found;
};

// A plan of a form.
struct Candidate {
  const PreparedProgram* program = nullptr;
  const PricedPlan* plan = nullptr;
};

const AssignmentPolicy& PolicyOf(const PartitionOptions& options) {
  return options.policy != nullptr ? *options.policy : CheapestAssignments();
}

ProgramNames NamesOf(const PreparedProgram& program) {
  return ProgramNames(*program.flat, *program.graph, program.annotations, program.relabeled);
}

Price PriceOf(const Partitioned& partitioned, const CostModel& cost) {
  Price price = PriceOf(*partitioned.module, cost);
  price.replicated = static_cast<double>(partitioned.full_replications.size());
  return price;
}

// Peak memory may grow over that of the first plan by 5 % and 128 KiB.
constexpr double kMaxPeakGrowth = 1.05;
// The best candidates are written, one after the other, until one is better than the first plan; at most kMostWritten in all.
constexpr size_t kBestFew = 3, kMostWritten = 6;

// Whether program `a` is to be taken in place of `b`.
absl::StatusOr<bool> IsBetter(const Partitioned& a, const Partitioned& b, const Comparison& by,
                              const PartitionOptions& options) {
  if (!options.step_seconds) return Better(PriceOf(a, *by.cost), PriceOf(b, *by.cost), by);
  ASSIGN_OR_RETURN(const double seconds_of_a, options.step_seconds(*a.module));
  ASSIGN_OR_RETURN(const double seconds_of_b, options.step_seconds(*b.module));
  return seconds_of_a < seconds_of_b;
}

// Writes the first plan and the best candidates, and returns the best program that needs little more memory than the first:
// what passes save after writing, and the order of the program, are not in the price of a plan. `candidates`: the best first.
absl::StatusOr<std::pair<Candidate, Partitioned>> EmitBest(const Candidate& first,
                                                           const std::vector<Candidate>& candidates,
                                                           const Comparison& by,
                                                           const PartitionOptions& options) {
  ASSIGN_OR_RETURN(Partitioned by_first, EmitPlan(*first.program, first.plan->plan, options));
  const int64_t peak = ComputePeakMemory(*by_first.module).bytes;
  const int64_t most_peak = static_cast<int64_t>(kMaxPeakGrowth * static_cast<double>(peak) + kIgnoredBytes);
  std::pair<Candidate, Partitioned> best(first, std::move(by_first));
  // If the best few need too much memory, another one is looked for by halving: of candidates that were made one from the other
  // the later ones need more. Predictions of a machine may not agree with the order of candidates: there the best few are
  // compared.
  size_t next = 0, end = candidates.size();
  for (size_t n = 0; n < (options.step_seconds ? kBestFew : kMostWritten) && next < end; ++n) {
    const size_t i = n < kBestFew ? next : next + (end - next) / 2;
    ASSIGN_OR_RETURN(Partitioned written,
                     EmitPlan(*candidates[i].program, candidates[i].plan->plan, options));
    bool is_better = ComputePeakMemory(*written.module).bytes <= most_peak;
    if (is_better) {
      ASSIGN_OR_RETURN(is_better, IsBetter(written, best.second, by, options));
    }
    if (is_better) best = {candidates[i], std::move(written)};
    if (is_better && !options.step_seconds) {
      end = i;
    } else {
      next = i + 1;
    }
  }
  return best;
}

// The plans of all forms that are better than the first one, the best first.
std::vector<Candidate> CandidatesOf(const std::vector<FormPlans>& forms, const PricedPlan& first,
                                    const Comparison& by) {
  std::vector<Candidate> candidates;
  const auto add = [&](const FormPlans& form, const PricedPlan& plan) {
    if (!Better(plan.price, first.price, by)) return;
    const auto after = [&](const Candidate& known) { return Better(plan.price, known.plan->price, by); };
    candidates.insert(absl::c_find_if(candidates, after), {form.program.get(), &plan});
  };
  for (const FormPlans& form : forms) {
    for (const PricedPlan& plan : form.found.plans) add(form, plan);
    for (auto plan = form.found.earlier.rbegin(); plan != form.found.earlier.rend(); ++plan) add(form, *plan);
  }
  return candidates;
}

// The program of `options.plan`.
absl::StatusOr<Partitioned> PartitionByPlan(const Module& module, const PartitionOptions& options) {
  const Stopwatch start;
  ASSIGN_OR_RETURN(const ProgramForm form, FormOfPlan(options.plan));
  ASSIGN_OR_RETURN(std::unique_ptr<PreparedProgram> program, PrepareProgram(module, options, form));
  ASSIGN_OR_RETURN(Plan read, ReadPlan(options.plan, *program, NamesOf(*program)));
  PlanMemo memo(*program);
  std::optional<PricedPlan> plan =
      DecideGreedily(std::move(read), PolicyOf(options), /*fixed_outputs=*/true, &memo);
  if (!plan)
    return absl::InvalidArgumentError("the plan: a value cannot be brought to a sharding that an op needs");
  const double propagate_seconds = start.Seconds();
  ASSIGN_OR_RETURN(Partitioned result, EmitPlan(*program, plan->plan, options));
  if (options.states_plan) result.plan = options.plan;
  result.propagate_seconds = propagate_seconds;
  result.partition_seconds = start.Seconds() - propagate_seconds - result.optimize_seconds;
  result.shardings = std::move(plan->plan.shardings);
  result.program = std::move(program);
  return result;
}

// True if a reshape of `from` to `to` merges a cut dimension of `from` into a dimension of `to` that begins
// before it.
bool MergesCutDim(const Shape& from, const Shape& to, const Sharding& sharding) {
  absl::flat_hash_set<int64_t> begins;  // For each dimension of `to`: the product of the sizes before it.
  int64_t blocks = 1;
  for (const int64_t n : to.dims()) {
    begins.insert(blocks);
    blocks *= n;
  }
  blocks = 1;
  for (int d = 0; d < from.rank(); ++d) {
    if (from.dim(d) > 1 && !sharding.dims[d].empty() && !begins.contains(blocks)) return true;
    blocks *= from.dim(d);
  }
  return false;
}

bool ReversesCutDim(const Instruction& reverse, const Sharding& sharding) {
  return absl::c_any_of(reverse.dimensions(), [&](int64_t d) { return !sharding.dims[d].empty(); });
}

// Equivalent forms of a program that may communicate less: reshapes or reversals, which only reorder
// elements, are removed or delayed.
// kUnmergedDims if the plan cuts the operand of a reshape along a dimension that is merged into the one
// before it, as the columns of f32[12,64] in a reshape to f32[768]. kLateReversals if it cuts the operand of
// a reverse along a dimension that is reversed.
std::vector<ProgramForm> FormsToTry(const FlowGraph& graph, const ShardingPlan& plan) {
  bool merges = false, reverses = false;
  for (const FlowOp& op : graph.ops()) {
    if (op.instruction == nullptr || op.operands.empty()) continue;
    const Sharding& sharding = plan[op.operands[0]];
    if (op.instruction->opcode() == Opcode::kReshape) {
      merges = merges || MergesCutDim(op.instruction->operand(0)->shape(), op.instruction->shape(), sharding);
    } else if (op.instruction->opcode() == Opcode::kReverse) {
      reverses = reverses || ReversesCutDim(*op.instruction, sharding);
    }
  }
  std::vector<ProgramForm> forms;
  if (merges) forms.push_back(ProgramForm::kUnmergedDims);
  if (reverses) forms.push_back(ProgramForm::kLateReversals);
  return forms;
}

}  // namespace

absl::StatusOr<Partitioned> PartitionModule(const Module& module, const PartitionOptions& options) {
  if (!options.plan.empty()) return PartitionByPlan(module, options);
  const Stopwatch start;
  PartitionOptions silent = options;
  silent.observer = {};
  std::vector<FormPlans> forms(1);
  ASSIGN_OR_RETURN(forms[0].program, PrepareProgram(module, options));
  double propagate_seconds = start.Seconds();
  ASSIGN_OR_RETURN(forms[0].found, FindPlans(*forms[0].program, ProgramForm::kAsGiven, silent));
  propagate_seconds += forms[0].found.propagate_seconds;
  const PricedPlan first = forms[0].found.first;
  if (options.policy == nullptr && absl::c_linear_search(options.strategies, kForms)) {
    for (const ProgramForm form : FormsToTry(*forms[0].program->graph, first.plan.shardings)) {
      FormPlans other;
      ASSIGN_OR_RETURN(other.program, PrepareProgram(module, silent, form));
      ASSIGN_OR_RETURN(other.found, FindPlans(*other.program, form, silent));
      forms.push_back(std::move(other));
    }
  }
  const Comparison by = forms[0].found.by;
  ASSIGN_OR_RETURN(auto best,
                   EmitBest({forms[0].program.get(), &first}, CandidatesOf(forms, first, by), by, silent));
  const Candidate candidate = best.first;
  const Plan& plan = candidate.plan->plan;
  Partitioned result = std::move(best.second);
  if (!options.observer.IsIdle()) {
    if (plan.form != ProgramForm::kAsGiven) {
      RETURN_IF_ERROR(options.observer.After(NameOf(plan.form), *candidate.program->flat));
    }
    ASSIGN_OR_RETURN(result, EmitPlan(*candidate.program, plan, options));
  }
  if (options.states_plan) result.plan = PlanText(*candidate.program, NamesOf(*candidate.program), plan);
  // Includes the time spent on plans that were not taken.
  result.propagate_seconds = propagate_seconds;
  result.partition_seconds = start.Seconds() - propagate_seconds - result.optimize_seconds;
  result.shardings = plan.shardings;
  const auto of_candidate = [&](const FormPlans& form) { return form.program.get() == candidate.program; };
  result.program = std::move(absl::c_find_if(forms, of_candidate)->program);
  return result;
}

}  // namespace toroid
