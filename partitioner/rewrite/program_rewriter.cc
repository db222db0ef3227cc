#include "partitioner/rewrite/program_rewriter.h"

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"
#include "partitioner/propagation/manual_regions.h"
#include "partitioner/rewrite/rewriters.h"
#include "partitioner/spmd/merge_permutes.h"

namespace toroid {
namespace {

// Gives every instruction to the rewriter of its kind. Rewrites loops, conditionals and boundaries of manual
// regions itself. Each body, condition or branch has one caller and is rewritten with it.
//
// A value that enters or leaves a body, condition or branch does so in the sharding that the plan has for its
// tensor: it is resharded to it on one side of the call and has it on the other. The state of a loop has one
// sharding per leaf, in which every trip begins and ends.
class ProgramRewriter {
 public:
  explicit ProgramRewriter(RewriteState* state) : state_(*state) {}

  absl::Status Run() {
    const Computation& entry = *state_.module.entry();
    Computation* local = state_.out->AddComputation(entry.name());
    SpmdBuilder b(&state_.spmd, local);
    RewriteParameters(state_, b, entry);
    for (const Instruction* parameter : entry.parameters()) MakeEarlyVersions(b, *parameter);
    RETURN_IF_ERROR(RewriteInstructions(b, entry));
    RewriteResults(state_, b, entry);
    state_.out->set_entry(local);
    return state_.spmd.status();
  }

 private:
  absl::Status RewriteInstructions(SpmdBuilder& b, const Computation& computation) {
    for (const auto& instruction : computation.instructions()) {
      const absl::Status status = RewriteInstruction(b, *instruction);
      if (!status.ok()) return Annotate(status, instruction->Path());
      if (state_.graph.OpOf(*instruction) != nullptr) MakeEarlyVersions(b, *instruction);
    }
    return absl::OkStatus();
  }

  void MakeEarlyVersions(SpmdBuilder& b, const Instruction& instruction) {
    if (state_.decided.early.empty()) return;
    for (const int leaf : state_.graph.Leaves(instruction)) {
      const auto early = state_.decided.early.find(leaf);
      if (early == state_.decided.early.end() || state_.values.IsRematerializable(leaf)) continue;
      Sharding sharding = early->second;
      sharding.manual = state_.annotations.manual[leaf];
      state_.values.Get(b, leaf, sharding, instruction);
    }
  }

  absl::Status RewriteInstruction(SpmdBuilder& b, const Instruction& instruction) {
    switch (instruction.opcode()) {
      case Opcode::kParameter:
      case Opcode::kTuple:
      case Opcode::kGetTupleElement:
        return absl::OkStatus();  // Their leaves are added with other instructions or by the caller.
      case Opcode::kWhile:
        return RewriteWhile(b, instruction);
      case Opcode::kConditional:
        return RewriteConditional(b, instruction);
      default:
        break;
    }
    const Annotations& annotations = state_.annotations;
    const auto boundary = annotations.boundaries.find(&instruction);
    if (boundary != annotations.boundaries.end()) {
      RewriteManualBoundary(b, instruction, boundary->second);
      return absl::OkStatus();
    }
    if (IsCallTo(instruction, "xla.sdy.ShardingGroup")) return absl::OkStatus();
    const auto device = annotations.device.find(&instruction);
    if (device != annotations.device.end() && state_.mesh.num_devices() > 1) {
      return RewriteOnDevice(state_, b, instruction, device->second);
    }
    const auto fed = annotations.fed.find(&instruction);
    if (fed != annotations.fed.end()) return RewriteOutfeed(state_, b, instruction, fed->second);
    return RewriteOp(state_, b, instruction);
  }

  // Rewrites an op by which values enter or leave a manual region. The local buffer of a value is the same on
  // both sides: the value is resharded on the side it comes from, then handed on. Inside, it has the plan's
  // sharding without the axes whose tiles would differ from those outside (manual_regions.h).
  void RewriteManualBoundary(SpmdBuilder& b, const Instruction& instruction, const ManualBoundary& boundary) {
    for (const CrossingValue& crossing : CrossingValues(state_.graph, instruction, boundary)) {
      const auto [local, global] =
          crossing.SidesOf(state_.graph, state_.mesh, state_.values.Planned(crossing.local),
                           state_.values.Replicated(crossing.global).manual);
      if (boundary.enters) {
        state_.values.Add(crossing.local, local, state_.values.Get(b, crossing.global, global, instruction));
      } else {
        state_.values.Add(crossing.global, global, state_.values.Get(b, crossing.local, local, instruction));
      }
    }
  }

  std::vector<Sharding> Planned(absl::Span<const int> tensors) const {
    std::vector<Sharding> shardings;
    for (const int t : tensors) shardings.push_back(state_.values.Planned(t));
    return shardings;
  }

  // What a leaf of the result of a body or branch is called by: the op that makes it, if it has the author's words, for the
  // tuple of all results has none.
  static const Instruction& MakerOf(const Instruction& result, int64_t leaf) {
    const Instruction* at = &result;
    while (at->opcode() == Opcode::kTuple) {
      const Instruction* next = nullptr;
      for (const Instruction* operand : at->operands()) {
        const int64_t leaves = operand->shape().NumLeaves();
        if (leaf < leaves) {
          next = operand;
          break;
        }
        leaf -= leaves;
      }
      if (next == nullptr) return result;
      at = next;
    }
    return at->metadata() != nullptr ? *at : result;
  }

  // The local value of `value`, for `consumer`, with its leaves resharded to `shardings`.
  Instruction* Collect(SpmdBuilder& b, const Instruction& value, absl::Span<const Sharding> shardings,
                       const Instruction& consumer) {
    const auto tensors = state_.graph.Leaves(value);
    std::vector<Instruction*> leaves;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Instruction& needed_by = &value == &consumer ? MakerOf(value, static_cast<int64_t>(i)) : consumer;
      leaves.push_back(state_.values.Get(b, tensors[i], shardings[i], needed_by));
    }
    b.SetProvenance(&consumer);
    return b.Unflatten(value.shape(), leaves);
  }

  // Rewrites a body, condition or branch so that its result has the shardings `results`, one per leaf.
  absl::StatusOr<Computation*> RewriteCallee(const Computation& callee, absl::Span<const Sharding> results) {
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
    RETURN_IF_ERROR(RewriteInstructions(b, callee));
    local->set_root(Collect(b, *callee.root(), results, *callee.root()));
    return local;
  }

  absl::Status RewriteWhile(SpmdBuilder& b, const Instruction& loop) {
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

  absl::Status RewriteConditional(SpmdBuilder& b, const Instruction& conditional) {
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

  RewriteState& state_;
};

}  // namespace

absl::StatusOr<RewrittenProgram> RewriteProgram(const PreparedProgram& program, const Plan& plan,
                                                LocalValueHook on_local_value) {
  RewrittenProgram result;
  result.module = std::make_unique<Module>(program.flat->name(), *program.flat);
  result.module->config().replica_count = program.num_replicas;
  result.module->config().num_partitions = program.annotations.mesh.num_devices();
  RewriteState state(program, plan, std::move(on_local_value), result.module.get());
  AddOverruledShardings(program, &state.replications);
  ProgramRewriter rewriter(&state);
  RETURN_IF_ERROR(rewriter.Run());
  MergeHaloPermutes(state.spmd);
  result.module->RemoveUnreachableComputations();  // Also puts callees before their callers.
  result.cuts = FindCuts(state);
  result.full_replications = state.replications.entries();
  result.made_up_axes = state.names.MadeUpAxes();
  return result;
}

}  // namespace toroid
