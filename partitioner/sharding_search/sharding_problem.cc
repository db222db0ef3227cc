#include "partitioner/sharding_search/sharding_problem.h"

#include "absl/algorithm/container.h"

namespace toroid {

void ShardingProblem::Fix(int tensor, const Sharding& sharding) {
  const int node = tensor_node_[tensor];
  if (node < 0) return;
  const int number = memo_->versions().Number(sharding);
  if (!absl::c_linear_search(domains_[node], number)) return;
  for (size_t s = 0; s < domains_[node].size(); ++s) {
    if (domains_[node][s] != number) problem_.nodes[node].costs[s] = kForbidden;
  }
}

std::vector<int> ShardingProblem::WeightiestTensors(int most) const {
  std::vector<std::pair<int64_t, int>> order;
  for (int node = 0; node < static_cast<int>(domains_.size()); ++node) {
    if (domains_[node].size() < 2) continue;
    const auto& usages = problem_.nodes[node].usages;
    order.push_back({-*absl::c_max_element(usages), node});
  }
  absl::c_sort(order);
  std::vector<int> nodes;
  for (const auto& [bytes, node] : order) {
    if (static_cast<int>(nodes.size()) == most) break;
    nodes.push_back(node);
  }
  return nodes;
}

Plan ShardingProblem::PlanOf(const std::vector<int>& choice) const {
  const FlowGraph& graph = *memo_->program().graph;
  const VersionSets& versions = memo_->versions();
  Plan plan = base_;
  plan.early.clear();
  plan.ops.assign(graph.ops().size(), std::nullopt);
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    if (op_node_[i] < 0) continue;
    const OpChoice& chosen = *op_choices_[op_node_[i]][choice[op_node_[i]]];
    const FlowOp& op = graph.ops()[i];
    if (!memo_->program().read_through.contains(op.instruction)) plan.ops[i] = OpDecision{chosen.factor_axes};
    for (size_t k = 0; k < op.results.size(); ++k) {
      Sharding& sharding = plan.shardings[op.results[k]];
      const AxisSet manual = sharding.manual;
      sharding = versions.sharding(chosen.results[k]);
      sharding.partial = 0;
      sharding.reducer = Reducer::kAdd;
      sharding.manual = manual;
    }
  }
  for (int t = 0; t < graph.num_tensors(); ++t) {
    if (tensor_node_[t] < 0) continue;
    const AxisSet manual = plan.shardings[t].manual;
    plan.shardings[t] = versions.sharding(domains_[tensor_node_[t]][choice[tensor_node_[t]]]);
    plan.shardings[t].manual = manual;
  }
  return plan;
}

}  // namespace toroid
