#include "partitioner/choice/least_peak.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "partitioner/choice/feasible.h"

namespace toroid {
namespace {

constexpr size_t kNamed = 8;  // Nodes in the description.

// The peak if every node used the least it can.
int64_t LeastUsages(const ChoiceProblem& problem) {
  std::vector<int> least;
  for (const ChoiceNode& node : problem.nodes) {
    least.push_back(
        static_cast<int>(std::min_element(node.usages.begin(), node.usages.end()) - node.usages.begin()));
  }
  return Evaluate(problem, least).peak;
}

}  // namespace

absl::StatusOr<LeastPeak> FindLeastPeak(const ChoiceProblem& problem, const SolveOptions& options) {
  ChoiceProblem free = problem;
  for (ChoiceNode& node : free.nodes) {
    for (int64_t& cost : node.costs) cost = cost >= kForbidden ? kForbidden : 0;
  }
  for (ChoiceEdge& edge : free.edges) {
    for (int64_t& cost : edge.costs) cost = cost >= kForbidden ? kForbidden : 0;
  }
  free.usage_limit.reset();
  ASSIGN_OR_RETURN(Feasibility any, FindFeasible(free, options));
  if (any.choice.empty()) return absl::FailedPreconditionError("no choice is allowed, whatever the memory");
  LeastPeak least;
  least.choice = std::move(any.choice);
  least.peak = Evaluate(free, least.choice).peak;
  least.bound = LeastUsages(free);
  while (least.bound < least.peak) {
    free.usage_limit = least.bound + (least.peak - 1 - least.bound) / 2;
    ASSIGN_OR_RETURN(Feasibility tried, FindFeasible(free, options));
    if (!tried.choice.empty()) {
      least.choice = std::move(tried.choice);
      least.peak = Evaluate(free, least.choice).peak;
    } else if (tried.impossible) {
      least.bound = *free.usage_limit + 1;
    } else {
      break;
    }
  }
  return least;
}

std::string Describe(const ChoiceProblem& problem, const LeastPeak& least) {
  const int64_t time = Evaluate(problem, least.choice).peak_time;
  std::vector<std::pair<int64_t, int>> alive;  // Usage, node.
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    const ChoiceNode& node = problem.nodes[i];
    if (node.begin <= time && time < node.end)
      alive.emplace_back(-node.usages[least.choice[i]], static_cast<int>(i));
  }
  std::sort(alive.begin(), alive.end());
  std::string text =
      least.bound == least.peak
          ? absl::StrCat("at least ", least.peak, " bytes are needed")
          : absl::StrCat("at least ", least.bound, " bytes are needed, and the least found are ", least.peak);
  absl::StrAppend(&text, ", at time ", time, " by ");
  for (size_t k = 0; k < std::min(alive.size(), kNamed); ++k) {
    absl::StrAppend(&text, k == 0 ? "" : ", ", NodeName(problem, alive[k].second), " (", -alive[k].first,
                    ")");
  }
  if (alive.size() > kNamed) absl::StrAppend(&text, " and ", alive.size() - kNamed, " more");
  return text;
}

}  // namespace toroid
