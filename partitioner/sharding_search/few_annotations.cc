#include "partitioner/sharding_search/few_annotations.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/custom_call_targets.h"
#include "partitioner/assign/assignment.h"

namespace toroid {
namespace {

// Values that are tried, each round, as the next annotation; the ops of all plans that are made for one search.
constexpr size_t kMostTried = 16;
constexpr int64_t kMostOps = 4 << 20;
// The part of the wanted plan's memory that a program may need.
constexpr double kMemorySlack = 1.005;
// An annotation is added if it saves this part of the time at least.
constexpr double kLeastSaved = 0.003;

class Search {
 public:
  Search(const WantedPlan& wanted, PlanMemo* memo)
      : wanted_(wanted.plan.plan),
        state_(wanted.state),
        prices_(wanted.prices),
        lives_(wanted.lives),
        memo_(*memo),
        program_(memo->program()),
        graph_(*program_.graph) {
    if (wanted.keeps_memory)
      most_peak_ = kMemorySlack * static_cast<double>(PeakOfPlan(program_, lives_, wanted_));
    most_ = CostOf(wanted.plan) * (1 + wanted.tolerance);
    for (const Instruction* parameter : program_.flat->entry()->parameters()) {
      for (const int t : graph_.Leaves(*parameter)) is_argument_.insert(t);
    }
    for (SuggestedAnnotation& group :
         AnnotationGroups(program_, wanted_, wanted.kinds, state_, wanted.names)) {
      // A whole argument is annotated only if propagation would cut it.
      const bool is_argument = is_argument_.contains(group.tensors[0]);
      (is_argument && group.sharding.DimAxes() != 0 ? chosen_ : others_).push_back(std::move(group));
    }
  }

  std::optional<FewAnnotations> Run() {
    best_ = PlanUnder(chosen_);
    if (!best_) return std::nullopt;
    while (CostOf(*best_) > most_ && HasTime()) {
      if (!AddBest() && !AddSeveral()) break;
    }
    most_ = std::max(most_, CostOf(*best_));
    DropNeedless();
    return FewAnnotations{std::move(chosen_), *std::move(best_)};
  }

 private:
  // The time, made longer by the memory that exceeds that of the wanted plan.
  double CostOf(const PricedPlan& plan) const {
    const double time = prices_.OfPlan(plan, &memo_).sum();
    if (most_peak_ == 0) return time;
    return time * std::max(1.0, static_cast<double>(PeakOfPlan(program_, lives_, plan.plan)) / most_peak_);
  }

  std::optional<PricedPlan> PlanUnder(const std::vector<SuggestedAnnotation>& suggested) {
    ops_ += static_cast<int64_t>(graph_.ops().size());
    return PlanOfAnnotations(suggested, wanted_.form, state_, &memo_);
  }

  bool HasTime() const { return ops_ < kMostOps; }

  // The bytes of what a group's tensors are under the present plan and should not be.
  double Disagreement(const SuggestedAnnotation& group) const {
    double bytes = 0;
    for (const int t : group.tensors) {
      if (best_->plan.shardings[t] == group.sharding) continue;
      bytes += static_cast<double>(LocalBytes(program_, t, Sharding::Replicated(graph_.shape(t).rank())));
    }
    return bytes;
  }

  // Values that have another sharding than they should, those of most bytes first.
  std::vector<size_t> LargestThatDisagree() const {
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < others_.size(); ++i) {
      const double bytes = Disagreement(others_[i]);
      if (bytes > 0) order.push_back({-bytes, i});
    }
    absl::c_sort(order);
    std::vector<size_t> largest;
    for (const auto& [bytes, i] : order) largest.push_back(i);
    return largest;
  }

  bool AddBest() {
    std::optional<PricedPlan> best;
    size_t which = 0;
    std::vector<size_t> largest = LargestThatDisagree();
    if (largest.size() > kMostTried) largest.resize(kMostTried);
    for (const size_t i : largest) {
      if (!HasTime()) break;
      std::vector<SuggestedAnnotation> more = chosen_;
      more.push_back(others_[i]);
      std::optional<PricedPlan> plan = PlanUnder(more);
      if (!plan || CostOf(*plan) >= CostOf(best ? *best : *best_)) continue;
      best = std::move(plan);
      which = i;
    }
    if (!best || CostOf(*best) > (1 - kLeastSaved) * CostOf(*best_)) return false;
    chosen_.push_back(std::move(others_[which]));
    others_.erase(others_.begin() + static_cast<ptrdiff_t>(which));
    best_ = std::move(best);
    return true;
  }

  // Where no single annotation helps, several may: a value that one of them cuts is gathered again where the next one is
  // missing. The fewest of the largest that save enough; DropNeedless takes back those of them that do nothing.
  bool AddSeveral() {
    std::vector<size_t> largest = LargestThatDisagree();
    for (size_t count = 2; HasTime(); count = std::min(2 * count, largest.size())) {
      if (count > largest.size()) return false;
      std::vector<SuggestedAnnotation> more = chosen_;
      for (size_t k = 0; k < count; ++k) more.push_back(others_[largest[k]]);
      std::optional<PricedPlan> plan = PlanUnder(more);
      if (plan && CostOf(*plan) <= (1 - kLeastSaved) * CostOf(*best_)) {
        largest.resize(count);
        absl::c_sort(largest, std::greater<>());
        for (const size_t i : largest) others_.erase(others_.begin() + static_cast<ptrdiff_t>(i));
        chosen_ = std::move(more);
        best_ = std::move(plan);
        return true;
      }
      if (count == largest.size()) return false;
    }
    return false;
  }

  // Leaves out annotations whose program is as good without them: many at a time first, then fewer; values inside first, then
  // the smallest arguments. What is left out of arguments must come out as it should be, for it is stored that way.
  void DropNeedless() {
    for (size_t count = std::max<size_t>(1, chosen_.size() / 2); count > 0 && HasTime(); count /= 2) {
      for (size_t end = chosen_.size(); end > 0 && HasTime();) {
        const size_t begin = end > count ? end - count : 0;
        DropIfNeedless(begin, end);
        end = begin;
      }
    }
  }

  void DropIfNeedless(size_t begin, size_t end) {
    std::vector<SuggestedAnnotation> fewer = chosen_;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(begin), fewer.begin() + static_cast<ptrdiff_t>(end));
    std::optional<PricedPlan> plan = PlanUnder(fewer);
    if (!plan || CostOf(*plan) > most_) return;
    for (size_t i = begin; i < end; ++i) {
      const SuggestedAnnotation& dropped = chosen_[i];
      if (!is_argument_.contains(dropped.tensors[0])) continue;
      const bool keeps =
          absl::c_all_of(dropped.tensors, [&](int t) { return plan->plan.shardings[t] == dropped.sharding; });
      if (!keeps) return;
    }
    chosen_ = std::move(fewer);
    best_ = std::move(plan);
  }

  const Plan& wanted_;
  const ProgramState& state_;
  const StepPrices& prices_;
  const std::vector<TensorLife>& lives_;
  PlanMemo& memo_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  double most_ = 0, most_peak_ = 0;  // No peak is kept if it is 0.
  absl::flat_hash_set<int> is_argument_;
  std::vector<SuggestedAnnotation> chosen_, others_;
  std::optional<PricedPlan> best_;
  int64_t ops_ = 0;
};

}  // namespace

std::optional<PricedPlan> PlanOfAnnotations(const std::vector<SuggestedAnnotation>& annotations,
                                            ProgramForm form, const ProgramState& state, PlanMemo* memo) {
  Annotations all = memo->program().annotations;
  for (const SuggestedAnnotation& one : annotations) {
    for (const int t : one.tensors) all.tensor[t] = Annotation::Closed(one.sharding);
  }
  Plan plan;
  plan.form = form;
  plan.shardings = ProposeShardings(memo->program(), all);
  for (const auto& [argument, output] : state) {
    if (!all.tensor[output]) plan.shardings[output] = plan.shardings[argument];
  }
  return DecideGreedily(std::move(plan), CheapestAssignments(), /*fixed_outputs=*/!state.empty(), memo);
}

std::optional<FewAnnotations> FindFewAnnotations(const WantedPlan& wanted, PlanMemo* memo) {
  return Search(wanted, memo).Run();
}

}  // namespace toroid
