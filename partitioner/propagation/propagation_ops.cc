#include "partitioner/propagation/propagation_ops.h"

namespace toroid {

PropagationOps::PropagationOps(const FlowGraph& graph, const Annotations& annotations)
    : graph_(graph), crossings_(CrossingValues(graph, annotations)) {
  AddGroups();
  AddBoundaries();
  IndexByTensor();
}

const FlowOp& PropagationOps::operator[](int i) const {
  if (i < num_flow_ops()) return graph_.ops()[i];
  const int group = i - num_flow_ops(), groups = static_cast<int>(groups_.size());
  return group < groups ? groups_[group] : boundaries_[group - groups];
}

const CrossingValue* PropagationOps::CrossingOf(int i) const {
  const int boundary = i - num_flow_ops() - static_cast<int>(groups_.size());
  return boundary < 0 ? nullptr : &crossings_[boundary];
}

void PropagationOps::AddGroups() {
  group_rules_.reserve(graph_.groups().size());
  for (const std::vector<int>& group : graph_.groups()) {
    if (group.size() < 2) continue;
    group_rules_.push_back(PointwiseRule(graph_.shape(group[0]).dims(), static_cast<int>(group.size()) - 1));
    FlowOp& op = groups_.emplace_back();
    op.rule = &group_rules_.back();
    op.operands.assign(group.begin(), group.end() - 1);
    op.results.push_back(group.back());
  }
}

void PropagationOps::AddBoundaries() {
  for (const CrossingValue& crossing : crossings_) {
    FlowOp& op = boundaries_.emplace_back();
    op.rule = &no_factors_;
    op.operands.push_back(crossing.global);
    op.results.push_back(crossing.local);
  }
}

void PropagationOps::IndexByTensor() {
  begin_.assign(graph_.num_tensors() + 1, 0);
  const auto each = [&](const auto& visit) {
    for (int i = 0; i < size(); ++i) {
      for (const int t : (*this)[i].operands) visit(t, i);
      for (const int t : (*this)[i].results) visit(t, i);
    }
  };
  each([&](int t, int) { ++begin_[t + 1]; });
  for (size_t t = 1; t < begin_.size(); ++t) begin_[t] += begin_[t - 1];
  touching_.resize(begin_.back());
  std::vector<int> next(begin_.begin(), begin_.end() - 1);
  each([&](int t, int op) { touching_[next[t]++] = op; });
}

}  // namespace toroid
