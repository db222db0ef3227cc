// Other shardings for the tensors around an op, for searches that try them one by one (neighbours.cc).
#pragma once

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "partitioner/plan/plan_memo.h"

namespace toroid {

class NearbyShardings {
 public:
  // `memo` must outlive this object.
  explicit NearbyShardings(PlanMemo* memo);

  // Ops that need communication to get their operands from, or bring their results to, the plan's shardings; most bytes first.
  std::vector<const FlowOp*> ContestedOps(const ShardingPlan& plan);
  // The sharding that the op would choose for its tensor `i` if it were free, those that each other tensor of the op alone
  // implies, and replicated.
  std::vector<Sharding> Likely(const FlowOp& op, size_t i, const ShardingPlan& plan);
  // All shardings of tensor `i` in which one or two dimensions are cut over axis lists that cut dimensions of the op's tensors; at
  // most 32.
  std::vector<Sharding> All(const FlowOp& op, size_t i, const ShardingPlan& plan) const;

  // The tensors that may be copied before their users so that `tensor` is made in `sharding`, each with its sharding: the tensor
  // itself, the largest operand of its producer, and so on, those that have several users.
  std::vector<std::pair<int, Sharding>> Sources(int tensor, const Sharding& sharding);
  // The results of the users of `tensor` if it has `sharding`, each with the sharding that follows.
  std::vector<std::pair<int, Sharding>> ResultsOfUsers(int tensor, const Sharding& sharding);

 private:
  // The sharding of a tensor; null if it is free.
  using Places = absl::FunctionRef<const Sharding*(int tensor)>;

  bool HasRule(const FlowOp& op) const;
  // The cheapest assignment of an op.
  const Assignment& Assign(const FlowOp& op, Places places);
  Sharding Under(const FlowOp& op, const TensorFactors& tensor, const Assignment& assignment) const;

  PlanMemo& memo_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  std::vector<const FlowOp*> producer_;  // By tensor.
  std::vector<std::vector<const FlowOp*>> users_;
};

}  // namespace toroid
