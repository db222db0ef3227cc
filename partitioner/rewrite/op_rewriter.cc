#include "partitioner/rewrite/op_rewriter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "partitioner/ops/emit_custom_call.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/propagation/flow_graph.h"
#include "partitioner/rewrite/replication_findings.h"

namespace toroid {
namespace {

absl::Status NotDecided() { return absl::InternalError("the plan does not say how it is computed"); }

}  // namespace

absl::Status OpRewriter::Rewrite(SpmdBuilder& b, const Instruction& instruction) {
  if (state_.program.read_through.contains(&instruction)) return absl::OkStatus();
  if (RewriteAnnotation(b, instruction)) return absl::OkStatus();
  if (!state_.graph.LeafOps(instruction).empty()) {
    return RewriteLeaves(b, instruction);
  }
  const FlowOp* op = state_.graph.OpOf(instruction);
  if (op == nullptr || (instruction.opcode() == Opcode::kConstant && !instruction.shape().IsArray())) {
    RewriteReplicated(b, instruction);
    return absl::OkStatus();
  }
  if (CanBeRematerialized(*op)) {
    state_.values.AddRematerializable(op->results[0], &instruction);
    return absl::OkStatus();
  }
  return RewriteByRule(b, instruction, *op);
}

bool OpRewriter::CanBeRematerialized(const FlowOp& op) const {
  const auto is_whole = [&](int t) {
    const auto versions = state_.values.versions(t);
    return std::any_of(versions.begin(), versions.end(),
                       [](const auto& version) { return version.sharding.IsReplicated(); });
  };
  return IsMadeAnywhere(
      state_.graph, op, [&](int t) { return state_.values.IsRematerializable(t); }, is_whole);
}

bool OpRewriter::IsMadeOfWholes(const FlowOp& op, const OpDecision& decision) const {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!OperandSharding(state_.program, op, i, decision).IsReplicated()) return false;
  }
  return IsMadeAnywhere(
      state_.graph, op, [&](int t) { return state_.values.IsRematerializable(t); }, [](int) { return true; });
}

bool OpRewriter::RewriteAnnotation(SpmdBuilder& b, const Instruction& instruction) {
  if (!IsShardingAnnotation(instruction)) return false;
  const auto operands = state_.graph.Leaves(*instruction.operand(0)),
             results = state_.graph.Leaves(instruction);
  for (size_t i = 0; i < results.size(); ++i) {
    const int from = operands[i], to = results[i];
    const std::optional<Annotation>& annotation = state_.annotations.tensor[to];
    if (!annotation.has_value() || annotation->closed == 0) {
      state_.values.Alias(from, to);
      continue;
    }
    const Sharding wanted = state_.values.Planned(to);
    Instruction* local = state_.values.Get(b, from, wanted, instruction);
    state_.values.TakeProducer(from, to);
    state_.values.Add(to, wanted, local);
  }
  return true;
}

absl::Status OpRewriter::RewriteLeaves(SpmdBuilder& b, const Instruction& instruction) {
  const auto from = state_.graph.Leaves(*instruction.operand(0)), to = state_.graph.Leaves(instruction);
  const FlowOp* op = state_.graph.LeafOps(instruction).data();
  std::vector<Instruction*> operands;
  std::vector<Sharding> shardings;
  for (size_t i = 0; i < to.size(); ++i) {
    Sharding sharding = state_.values.Replicated(to[i]);
    if (state_.graph.shape(to[i]).IsArray()) {
      const OpDecision* decision = state_.decided.DecisionOf(state_.graph, *op);
      if (decision == nullptr) return NotDecided();
      sharding = OperandSharding(state_.program, *op, 0, *decision);
      ++op;
    }
    operands.push_back(state_.values.Get(b, from[i], sharding, instruction));
    shardings.push_back(std::move(sharding));
  }
  b.SetProvenance(&instruction);
  Instruction* operand = b.Unflatten(instruction.shape(), operands);
  const std::vector<Instruction*> locals = b.Flatten(b.Clone(instruction, operand->shape(), {operand}));
  for (size_t i = 0; i < to.size(); ++i) {
    shardings[i].manual = state_.annotations.manual[to[i]];
    state_.values.Add(to[i], shardings[i], locals[i]);
  }
  return absl::OkStatus();
}

absl::Status OpRewriter::RewriteByRule(SpmdBuilder& b, const Instruction& instruction, const FlowOp& op) {
  const OpDecision* decided = state_.decided.DecisionOf(state_.graph, op);
  if (decided == nullptr) return NotDecided();
  const OpDecision& decision = *decided;
  if (IsMadeOfWholes(op, decision)) {
    for (const int t : op.operands) {
      if (!state_.values.IsRematerializable(t))
        state_.values.Fetch(b, t, state_.values.Replicated(t), instruction);
    }
    state_.values.AddRematerializable(op.results[0], &instruction);
    return absl::OkStatus();
  }
  OpContext context;
  context.op = &instruction;
  context.rule = op.rule;
  context.factor_axes = decision.assignment.factor_axes;
  context.b = &b;
  context.copy_computation = state_.copy_computation();
  for (size_t i = 0; i < op.operands.size(); ++i) {
    Sharding needed = OperandSharding(state_.program, op, i, decision);
    const ShardedValues::Fetched operand = state_.values.Fetch(b, op.operands[i], needed, instruction);
    if (IsNeedlessGather(op, i, decision.assignment, operand.gathered)) {
      state_.replications.Add(instruction, state_.graph.shape(op.operands[i]).ByteSize(),
                              absl::StrCat("operand ", i, " is replicated"));
    }
    context.operands.push_back(operand.local);
    context.operand_shardings.push_back(std::move(needed));
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    context.results.push_back(ResultSharding(state_.program, op, i, decision));
  }
  b.SetProvenance(&instruction);
  ASSIGN_OR_RETURN(const std::vector<Instruction*> locals, LocalProgram(context));
  for (size_t i = 0; i < op.results.size(); ++i) {
    state_.values.AddMade(b, op.results[i], context.results[i], locals[i]);
  }
  const std::optional<int64_t> repeated = BytesComputedEverywhere(state_, op, decision.assignment);
  if (repeated.has_value()) {
    state_.replications.Add(instruction, *repeated,
                            absl::StrCat(instruction.opcode_name(), " is computed on replicated arrays"));
  }
  return absl::OkStatus();
}

void OpRewriter::RewriteReplicated(SpmdBuilder& b, const Instruction& instruction) {
  std::vector<Instruction*> operands;
  bool cut = false;
  for (const Instruction* operand : instruction.operands()) {
    std::vector<Instruction*> leaves;
    for (const int t : state_.graph.Leaves(*operand)) {
      cut |= state_.graph.shape(t).IsArray() && !state_.values.IsRematerializable(t) &&
             state_.values.versions(t)[0].sharding.DimAxes() != 0;
      leaves.push_back(state_.values.Get(b, t, state_.values.Replicated(t), instruction));
    }
    operands.push_back(b.Unflatten(operand->shape(), leaves));
  }
  if (cut) {
    state_.replications.Add(instruction, instruction.shape().ByteSize(),
                            absl::StrCat(instruction.opcode_name(), " has no partitioned form"));
  }
  b.SetProvenance(&instruction);
  const std::vector<Instruction*> locals = CloneReplicated(b, instruction, operands);
  const auto leaves = state_.graph.Leaves(instruction);
  for (size_t i = 0; i < leaves.size(); ++i) {
    state_.values.Add(leaves[i], state_.values.Replicated(leaves[i]), locals[i]);
  }
}

std::vector<Instruction*> OpRewriter::CloneReplicated(SpmdBuilder& b, const Instruction& instruction,
                                                      absl::Span<Instruction* const> operands) {
  if (instruction.opcode() == Opcode::kCustomCall) {
    return EmitCustomCall(b, instruction, operands, instruction.shape(), state_.copy_computation());
  }
  Instruction* clone = b.Clone(instruction, instruction.shape(), operands);
  ReplaceCalled(clone, state_.copy_computation());
  return b.Flatten(clone);
}

}  // namespace toroid
