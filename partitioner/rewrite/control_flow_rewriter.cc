#include "partitioner/rewrite/control_flow_rewriter.h"

#include "hlo/base/status.h"
#include "partitioner/rewrite/entry_rewriter.h"

namespace toroid {

std::vector<Sharding> ControlFlowRewriter::Planned(absl::Span<const int> tensors) const {
  std::vector<Sharding> shardings;
  for (const int t : tensors) shardings.push_back(state_.values.Planned(t));
  return shardings;
}

Instruction* ControlFlowRewriter::Collect(SpmdBuilder& b, const Instruction& value,
                                          absl::Span<const Sharding> shardings, const Instruction& consumer) {
  const auto tensors = state_.graph.Leaves(value);
  std::vector<Instruction*> leaves;
  for (size_t i = 0; i < tensors.size(); ++i) {
    leaves.push_back(state_.values.Get(b, tensors[i], shardings[i], consumer));
  }
  b.SetProvenance(&consumer);
  return b.Unflatten(value.shape(), leaves);
}

absl::StatusOr<Computation*> ControlFlowRewriter::RewriteCallee(const Computation& callee,
                                                                absl::Span<const Sharding> results) {
  Computation* local = state_.out->AddComputation(callee.name());
  SpmdBuilder b(&state_.spmd, local);
  // The only parameter: the state of a loop or the operand of a branch.
  const Instruction& parameter = *callee.parameter(0);
  const auto leaves = state_.graph.Leaves(parameter);
  Instruction* value = local->AddParameter(
      PlannedLocalShape(state_, b, parameter.shape().WithRowMajorLayout(), leaves), parameter.name());
  const std::vector<Instruction*> locals = b.Flatten(value);
  for (size_t i = 0; i < leaves.size(); ++i) {
    state_.values.Forget(leaves[i]);  // Body and condition of a loop share the tensors of its state.
    state_.values.Add(leaves[i], state_.values.Planned(leaves[i]), locals[i]);
  }
  RETURN_IF_ERROR(rewrite_instructions_(b, callee));
  local->set_root(Collect(b, *callee.root(), results, *callee.root()));
  return local;
}

absl::Status ControlFlowRewriter::RewriteWhile(SpmdBuilder& b, const Instruction& loop) {
  const Computation& body = *loop.called(0);
  const Computation& condition = *loop.called(1);
  const auto state = state_.graph.Leaves(loop);
  const std::vector<Sharding> shardings = Planned(state);
  Instruction* init = Collect(b, *loop.operand(0), shardings, loop);
  // The body returns the state in the shardings in which it takes it.
  ASSIGN_OR_RETURN(Computation * local_body, RewriteCallee(body, shardings));
  ASSIGN_OR_RETURN(
      Computation * local_condition,
      RewriteCallee(condition, {state_.values.Replicated(state_.graph.Leaves(*condition.root())[0])}));
  b.SetProvenance(&loop);
  Instruction* local = b.Clone(loop, init->shape(), {init});
  Computation* called[] = {local_body, local_condition};
  local->set_called(called);
  const std::vector<Instruction*> results = b.Flatten(local);
  for (size_t i = 0; i < state.size(); ++i) {
    state_.values.Forget(state[i]);  // Drops the versions that the body computed.
    state_.values.Add(state[i], shardings[i], results[i]);
  }
  return absl::OkStatus();
}

absl::Status ControlFlowRewriter::RewriteConditional(SpmdBuilder& b, const Instruction& conditional) {
  const auto results = state_.graph.Leaves(conditional);
  const std::vector<Sharding> shardings = Planned(results);
  const int index = state_.graph.Leaves(*conditional.operand(0))[0];
  std::vector<Instruction*> operands = {
      state_.values.Get(b, index, state_.values.Replicated(index), conditional)};
  std::vector<Computation*> branches;
  for (size_t i = 0; i < conditional.called().size(); ++i) {
    const Computation& branch = *conditional.called(i);
    operands.push_back(Collect(b, *conditional.operand(i + 1),
                               Planned(state_.graph.Leaves(*branch.parameter(0))), conditional));
    ASSIGN_OR_RETURN(Computation * local, RewriteCallee(branch, shardings));
    branches.push_back(local);
  }
  b.SetProvenance(&conditional);
  Instruction* local = b.Clone(conditional, branches.back()->root()->shape(), operands);
  local->set_called(branches);
  const std::vector<Instruction*> locals = b.Flatten(local);
  for (size_t i = 0; i < results.size(); ++i) state_.values.Add(results[i], shardings[i], locals[i]);
  return absl::OkStatus();
}

}  // namespace toroid
