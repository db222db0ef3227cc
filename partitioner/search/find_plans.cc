#include "partitioner/search/find_plans.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"

namespace toroid {
namespace {

constexpr size_t kMostPlans = 3;
// Adds a plan that was made from `from`, the best plan with this one's ancestors. It takes the place of `from` if it improves
// on it, unless `also`. True if it did.
bool Keep(PricedPlan plan, const Plan& from, bool also, FoundPlans* found) {
  if (absl::c_any_of(found->plans, [&](const PricedPlan& known) { return known.plan == plan.plan; }))
    return false;
  for (PricedPlan& known : found->plans) {
    if (also || !(known.plan == from)) continue;
    if (!Improves(plan.price, known.price, found->by)) return false;
    found->earlier.push_back(std::exchange(known, std::move(plan)));
    return true;
  }
  if (found->plans.size() < kMostPlans) found->plans.push_back(std::move(plan));
  return false;
}

Objective ObjectiveOf(const PartitionOptions& options) {
  return options.objective.value_or(options.step_seconds ? Objective::kSeconds : Objective::kBytes);
}

// The best plan, by pairs: the first one unless a later one is better.
size_t BestOf(const std::vector<PricedPlan>& plans, const Comparison& by) {
  size_t best = 0;
  for (size_t i = 1; i < plans.size(); ++i) {
    if (Better(plans[i].price, plans[best].price, by)) best = i;
  }
  return best;
}

// The bytes that a device sends if each op takes its operands from, and brings its results to, the shardings of a plan, as
// partitioners do that decide op by op.
double BytesOfOpsAlone(const ShardingPlan& shardings, PlanMemo* memo) {
  const PreparedProgram& program = memo->program();
  const std::vector<Executions> executions = CountExecutions(*program.flat);
  std::vector<int> numbers;
  for (const Sharding& sharding : shardings) numbers.push_back(memo->versions().Number(sharding));
  // By class of op and the numbers of its tensors' shardings.
  absl::flat_hash_map<std::vector<int>, int64_t> sent_by;
  double bytes = 0;
  for (const FlowOp& op : program.graph->ops()) {
    if (op.operands.empty() && op.results.empty()) continue;
    if (program.annotations.boundaries.contains(op.instruction)) continue;
    const auto assigned = [&] {
      AssignmentProblem problem = ProblemOf(
          *program.graph, op, [&](int t, bool, TensorView* view) { view->places.push_back(shardings[t]); });
      problem.reserved = program.annotations.ManualAxesOf(op);
      return ChooseAssignment(problem, program.pricing()).sent_bytes;
    };
    if (op.instruction == nullptr) {
      if (shardings[op.operands[0]] != shardings[op.results[0]]) bytes += static_cast<double>(assigned());
      continue;
    }
    std::vector<int> key = {memo->ClassOf(op)};
    for (const int t : TensorsOf(op)) key.push_back(numbers[t]);
    const auto [it, is_new] = sent_by.try_emplace(std::move(key), 0);
    if (is_new) it->second = assigned();
    bytes += static_cast<double>(executions[op.instruction->computation()->index()].times) *
             static_cast<double>(it->second);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<FoundPlans> FindPlans(const PreparedProgram& program, ProgramForm form,
                                     const PartitionOptions& options) {
  const AssignmentPolicy& policy = options.policy != nullptr ? *options.policy : CheapestAssignments();
  const Stopwatch start;
  PlanMemo memo(program);
  std::optional<PricedPlan> first = Propagated(policy, &memo);
  if (!first)
    return absl::InvalidArgumentError("no plan: a value cannot be brought to a sharding that an op needs");
  FoundPlans found;
  found.propagate_seconds = start.Seconds();
  first->plan.form = form;
  found.by = {ObjectiveOf(options), options.cost, BytesOfOpsAlone(first->plan.shardings, &memo)};
  found.first = *first;
  found.plans.push_back(*std::move(first));
  ASSIGN_OR_RETURN(const std::vector<ListedStrategy> listed, ListStrategies(options.strategies));
  for (const auto& [strategy, steps] : listed) {
    const SearchProblem problem = {&memo, found.by, steps};
    const std::vector<PricedPlan> before = found.plans;
    for (const PricedPlan& from : before) {
      Plan replaced = from.plan;
      for (PricedPlan& plan : strategy->propose(problem, from)) {
        if (strategy->is_preferred) {
          found.first = plan;
          found.plans.front() = std::move(plan);
          break;
        }
        const Plan proposed = plan.plan;
        if (Keep(std::move(plan), replaced, strategy->adds, &found)) replaced = proposed;
      }
    }
  }
  std::swap(found.plans.front(), found.plans[BestOf(found.plans, found.by)]);
  return found;
}

}  // namespace toroid
