// The ops through which propagation spreads shardings, numbered: those of the flow graph, then a pointwise op
// over the members of each sharding group, then an op for each value that enters or leaves a manual region.
#pragma once

#include <vector>

#include "partitioner/propagation/crossing_values.h"

namespace toroid {

class PropagationOps {
 public:
  // Keeps a reference to `graph`.
  PropagationOps(const FlowGraph& graph, const Annotations& annotations);
  PropagationOps(const PropagationOps&) = delete;

  int size() const { return num_flow_ops() + static_cast<int>(groups_.size() + boundaries_.size()); }
  const FlowOp& operator[](int i) const;
  // The value that crosses at a manual boundary, whose op has no factors; null for other ops.
  const CrossingValue* CrossingOf(int i) const;
  // The ops of sharding groups. Each has the members but the last as operands, and the last as its result.
  const std::vector<FlowOp>& groups() const { return groups_; }
  // The ops with this operand or result.
  absl::Span<const int> Touching(int tensor) const {
    return absl::MakeConstSpan(touching_).subspan(begin_[tensor], begin_[tensor + 1] - begin_[tensor]);
  }

 private:
  int num_flow_ops() const { return static_cast<int>(graph_.ops().size()); }
  void AddGroups();
  void AddBoundaries();
  void IndexByTensor();

  const FlowGraph& graph_;
  std::vector<ShardingRule> group_rules_;
  std::vector<FlowOp> groups_;
  ShardingRule no_factors_;
  std::vector<CrossingValue> crossings_;
  std::vector<FlowOp> boundaries_;
  std::vector<int> begin_, touching_;  // The ops of tensor t stand in touching_ from begin_[t].
};

}  // namespace toroid
