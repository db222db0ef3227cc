#include "partitioner/choice/problem.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

absl::Status VerifyNode(const ChoiceProblem& problem, int i) {
  const ChoiceNode& node = problem.nodes[i];
  if (node.costs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(NodeName(problem, i), ": it has no strategy"));
  }
  if (node.usages.size() != node.costs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(NodeName(problem, i), ": it has ", node.costs.size(),
                                                   " costs and ", node.usages.size(), " usages"));
  }
  for (const std::vector<int64_t>* numbers : {&node.costs, &node.usages}) {
    if (*std::min_element(numbers->begin(), numbers->end()) < 0) {
      return absl::InvalidArgumentError(absl::StrCat(NodeName(problem, i), ": a cost or usage is negative"));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyEdge(const ChoiceProblem& problem, size_t index) {
  const ChoiceEdge& edge = problem.edges[index];
  const std::string where = absl::StrCat("edge ", index);
  if (edge.nodes.empty()) return absl::InvalidArgumentError(where + ": it has no nodes");
  size_t cells = 1;
  for (const int node : edge.nodes) {
    if (node < 0 || node >= static_cast<int>(problem.nodes.size())) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": there is no node ", node));
    }
    const size_t strategies = problem.nodes[node].costs.size();
    cells = cells > edge.costs.size() ? cells : cells * strategies;  // Cannot overflow: stops when too large.
  }
  if (cells != edge.costs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": its costs are ", edge.costs.size(), ", not one for each combination"));
  }
  if (*std::min_element(edge.costs.begin(), edge.costs.end()) < 0) {
    return absl::InvalidArgumentError(where + ": a cost is negative");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyChoiceProblem(const ChoiceProblem& problem) {
  int64_t usages = 0;
  for (size_t i = 0; i < problem.nodes.size(); ++i) {
    RETURN_IF_ERROR(VerifyNode(problem, static_cast<int>(i)));
    const std::vector<int64_t>& usage = problem.nodes[i].usages;
    const int64_t most = *std::max_element(usage.begin(), usage.end());
    if (most >= kForbidden || usages >= kForbidden) {
      return absl::InvalidArgumentError(
          absl::StrCat(NodeName(problem, static_cast<int>(i)), ": the sum of usages exceeds ", kForbidden));
    }
    usages += most;
  }
  for (size_t e = 0; e < problem.edges.size(); ++e) RETURN_IF_ERROR(VerifyEdge(problem, e));
  if (problem.usage_limit.has_value() && *problem.usage_limit < 0) {
    return absl::InvalidArgumentError("the usage limit is negative");
  }
  return absl::OkStatus();
}

absl::Status VerifyChoice(const ChoiceProblem& problem, const std::vector<int>& choice) {
  if (choice.size() != problem.nodes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the choice is for ", choice.size(), " nodes, the problem has ", problem.nodes.size()));
  }
  for (size_t i = 0; i < choice.size(); ++i) {
    if (choice[i] < 0 || choice[i] >= static_cast<int>(problem.nodes[i].costs.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat(NodeName(problem, static_cast<int>(i)), ": no strategy ", choice[i]));
    }
  }
  return absl::OkStatus();
}

ChoiceValue Evaluate(const ChoiceProblem& problem, const std::vector<int>& choice) {
  ChoiceValue value;
  std::map<int64_t, int64_t> changes;  // Of the usage, by time.
  for (size_t i = 0; i < choice.size(); ++i) {
    const ChoiceNode& node = problem.nodes[i];
    value.cost = AddCosts(value.cost, std::min(kForbidden, node.costs[choice[i]]));
    if (node.begin >= node.end) continue;
    changes[node.begin] += node.usages[choice[i]];
    changes[node.end] -= node.usages[choice[i]];
  }
  for (const ChoiceEdge& edge : problem.edges) {
    size_t cell = 0;
    for (const int node : edge.nodes) cell = cell * problem.nodes[node].costs.size() + choice[node];
    value.cost = AddCosts(value.cost, std::min(kForbidden, edge.costs[cell]));
  }
  int64_t usage = 0;
  for (const auto& [time, change] : changes) {
    usage += change;
    if (usage > value.peak) value = {value.cost, usage, time};
  }
  return value;
}

std::string NodeName(const ChoiceProblem& problem, int node) {
  const std::string& name = problem.nodes[node].name;
  return name.empty() ? absl::StrCat("node ", node) : name;
}

}  // namespace toroid
