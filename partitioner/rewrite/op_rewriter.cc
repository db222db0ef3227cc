// Writes the local program of one op; also of ops that hand on a tuple and of ops without a sharding rule.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/custom_call_targets.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/propagation/flow_graph.h"
#include "partitioner/rewrite/rewriters.h"

namespace toroid {
namespace {

absl::Status NotDecided() { return absl::InternalError("the plan does not say how it is computed"); }

// True if the op can be computed in any sharding without communication, and so is rematerialized for each
// user.
bool CanBeRematerialized(const RewriteState& state, const FlowOp& op) {
  const auto is_whole = [&](int t) {
    const auto versions = state.values.versions(t);
    return std::any_of(versions.begin(), versions.end(),
                       [](const auto& version) { return version.sharding.IsReplicated(); });
  };
  return IsMadeAnywhere(
      state.graph, op, [&](int t) { return state.values.IsRematerializable(t); }, is_whole);
}

// True if the decision replicates all operands and the op can be rematerialized once they are replicated.
bool IsMadeOfWholes(const RewriteState& state, const FlowOp& op, const OpDecision& decision) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!OperandSharding(state.program, op, i, decision).IsReplicated()) return false;
  }
  return IsMadeAnywhere(
      state.graph, op, [&](int t) { return state.values.IsRematerializable(t); }, [](int) { return true; });
}

// Reshards the value of a Sharding annotation to the sharding it asks for. False if `instruction` is no
// annotation.
bool RewriteAnnotation(RewriteState& state, SpmdBuilder& b, const Instruction& instruction) {
  if (!IsShardingAnnotation(instruction)) return false;
  const auto operands = state.graph.Leaves(*instruction.operand(0)),
             results = state.graph.Leaves(instruction);
  for (size_t i = 0; i < results.size(); ++i) {
    const int from = operands[i], to = results[i];
    const std::optional<Annotation>& annotation = state.annotations.tensor[to];
    if (!annotation.has_value() || annotation->closed == 0) {
      state.values.Alias(from, to);
      continue;
    }
    const Sharding wanted = state.values.Planned(to);
    Instruction* local = state.values.Get(b, from, wanted, instruction);
    state.values.TakeProducer(from, to);
    state.values.Add(to, wanted, local);
  }
  return true;
}

// Rewrites an op that hands on the leaves of its operand: one local op, each leaf in the sharding decided
// for it.
absl::Status RewriteLeaves(RewriteState& state, SpmdBuilder& b, const Instruction& instruction) {
  const auto from = state.graph.Leaves(*instruction.operand(0)), to = state.graph.Leaves(instruction);
  const FlowOp* op = state.graph.LeafOps(instruction).data();
  std::vector<Instruction*> operands;
  std::vector<Sharding> shardings;
  for (size_t i = 0; i < to.size(); ++i) {
    Sharding sharding = state.values.Replicated(to[i]);
    if (state.graph.shape(to[i]).IsArray()) {
      const OpDecision* decision = state.decided.DecisionOf(state.graph, *op);
      if (decision == nullptr) return NotDecided();
      sharding = OperandSharding(state.program, *op, 0, *decision);
      ++op;
    }
    operands.push_back(state.values.Get(b, from[i], sharding, instruction));
    shardings.push_back(std::move(sharding));
  }
  b.SetProvenance(&instruction);
  Instruction* operand = b.Unflatten(instruction.shape(), operands);
  const std::vector<Instruction*> locals = b.Flatten(b.Clone(instruction, operand->shape(), {operand}));
  for (size_t i = 0; i < to.size(); ++i) {
    shardings[i].manual = state.annotations.manual[to[i]];
    state.values.Add(to[i], shardings[i], locals[i]);
  }
  return absl::OkStatus();
}

absl::Status RewriteByRule(RewriteState& state, SpmdBuilder& b, const Instruction& instruction,
                           const FlowOp& op) {
  const OpDecision* decided = state.decided.DecisionOf(state.graph, op);
  if (decided == nullptr) return NotDecided();
  const OpDecision& decision = *decided;
  if (IsMadeOfWholes(state, op, decision)) {
    for (const int t : op.operands) {
      if (!state.values.IsRematerializable(t))
        state.values.Fetch(b, t, state.values.Replicated(t), instruction);
    }
    state.values.AddRematerializable(op.results[0], &instruction);
    return absl::OkStatus();
  }
  const AxisSet used = UsedAxes(decision.factor_axes);
  OpContext context{&instruction, op.rule, decision.factor_axes, &b};
  for (size_t i = 0; i < op.operands.size(); ++i) {
    Sharding needed = OperandSharding(state.program, op, i, decision);
    const ShardedValues::Fetched operand = state.values.Fetch(b, op.operands[i], needed, instruction);
    if (IsNeedlessGather(op, i, used, operand.gathered)) {
      state.replications.Add(instruction, state.graph.shape(op.operands[i]).ByteSize(),
                             absl::StrCat("operand ", i, " is replicated"));
    }
    context.operands.push_back(operand.local);
    context.operand_shardings.push_back(std::move(needed));
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    context.results.push_back(ResultSharding(state.program, op, i, decision));
  }
  b.SetProvenance(&instruction);
  const std::vector<Instruction*> locals = LocalProgram(context);
  for (size_t i = 0; i < op.results.size(); ++i) {
    state.values.AddMade(b, op.results[i], context.results[i], locals[i]);
  }
  const std::optional<int64_t> repeated = BytesComputedEverywhere(state, op, used);
  if (repeated.has_value()) {
    state.replications.Add(instruction, *repeated,
                           absl::StrCat(instruction.opcode_name(), " is computed on replicated arrays"));
  }
  return absl::OkStatus();
}

// Rewrites an op without a rule: on replicated operands, with replicated results.
void RewriteReplicated(RewriteState& state, SpmdBuilder& b, const Instruction& instruction) {
  bool cut = false;
  for (const Instruction* operand : instruction.operands()) {
    for (const int t : state.graph.Leaves(*operand)) {
      cut |= state.graph.shape(t).IsArray() && !state.values.IsRematerializable(t) &&
             state.values.versions(t)[0].sharding.DimAxes() != 0;
    }
  }
  const std::vector<Instruction*> operands = ReplicatedOperands(state, b, instruction);
  if (cut) {
    state.replications.Add(instruction, instruction.shape().ByteSize(),
                           absl::StrCat(instruction.opcode_name(), " has no partitioned form"));
  }
  b.SetProvenance(&instruction);
  const std::vector<Instruction*> locals = CloneReplicated(b, instruction, operands);
  const auto leaves = state.graph.Leaves(instruction);
  for (size_t i = 0; i < leaves.size(); ++i) {
    state.values.Add(leaves[i], state.values.Replicated(leaves[i]), locals[i]);
  }
}

}  // namespace

absl::Status RewriteOp(RewriteState& state, SpmdBuilder& b, const Instruction& instruction) {
  if (state.program.read_through.contains(&instruction)) return absl::OkStatus();
  if (RewriteAnnotation(state, b, instruction)) return absl::OkStatus();
  if (!state.graph.LeafOps(instruction).empty()) {
    return RewriteLeaves(state, b, instruction);
  }
  const FlowOp* op = state.graph.OpOf(instruction);
  if (op == nullptr || (instruction.opcode() == Opcode::kConstant && !instruction.shape().IsArray())) {
    RewriteReplicated(state, b, instruction);
    return absl::OkStatus();
  }
  if (CanBeRematerialized(state, *op)) {
    state.values.AddRematerializable(op->results[0], &instruction);
    return absl::OkStatus();
  }
  return RewriteByRule(state, b, instruction, *op);
}

std::vector<Instruction*> CloneReplicated(SpmdBuilder& b, const Instruction& instruction,
                                          absl::Span<Instruction* const> operands) {
  if (instruction.opcode() == Opcode::kCustomCall) {
    return EmitCustomCall(b, instruction, operands, instruction.shape());
  }
  Instruction* clone = b.Clone(instruction, instruction.shape(), operands);
  b.CopyCalled(clone);
  return b.Flatten(clone);
}

std::vector<Instruction*> ReplicatedOperands(RewriteState& state, SpmdBuilder& b,
                                             const Instruction& instruction) {
  std::vector<Instruction*> operands;
  for (const Instruction* operand : instruction.operands()) {
    std::vector<Instruction*> leaves;
    for (const int t : state.graph.Leaves(*operand)) {
      leaves.push_back(state.values.Get(b, t, state.values.Replicated(t), instruction));
    }
    operands.push_back(b.Unflatten(operand->shape(), leaves));
  }
  return operands;
}

}  // namespace toroid
