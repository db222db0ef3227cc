#include "partitioner/rewrite/program_rewriter.h"

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"
#include "partitioner/rewrite/control_flow_rewriter.h"
#include "partitioner/rewrite/cut_findings.h"
#include "partitioner/rewrite/entry_rewriter.h"
#include "partitioner/rewrite/manual_boundary.h"
#include "partitioner/rewrite/op_rewriter.h"
#include "partitioner/rewrite/replication_findings.h"
#include "partitioner/rewrite/rewrite_state.h"
#include "partitioner/rewrite/side_effect_rewriter.h"
#include "partitioner/spmd/merge_permutes.h"

namespace toroid {
namespace {

// Gives every instruction to the rewriter of its kind.
class ProgramRewriter {
 public:
  explicit ProgramRewriter(RewriteState* state)
      : state_(*state),
        ops_(state),
        side_effects_(state, &ops_),
        control_flow_(state, [this](SpmdBuilder& b, const Computation& computation) {
          return RewriteInstructions(b, computation);
        }) {}

  absl::Status Run() {
    const Computation& entry = *state_.module.entry();
    Computation* local = state_.out->AddComputation(entry.name());
    SpmdBuilder b(&state_.spmd, local);
    EntryRewriter ends(&state_);
    ends.RewriteParameters(b, entry);
    for (const Instruction* parameter : entry.parameters()) MakeEarlyVersions(b, *parameter);
    RETURN_IF_ERROR(RewriteInstructions(b, entry));
    ends.RewriteResults(b, entry);
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
        return control_flow_.RewriteWhile(b, instruction);
      case Opcode::kConditional:
        return control_flow_.RewriteConditional(b, instruction);
      default:
        break;
    }
    const Annotations& annotations = state_.annotations;
    const auto boundary = annotations.boundaries.find(&instruction);
    if (boundary != annotations.boundaries.end()) {
      RewriteManualBoundary(state_, b, instruction, boundary->second);
      return absl::OkStatus();
    }
    if (IsCallTo(instruction, "xla.sdy.ShardingGroup")) return absl::OkStatus();
    const auto device = annotations.device.find(&instruction);
    if (device != annotations.device.end() && state_.mesh.num_devices() > 1) {
      return side_effects_.RewriteOnDevice(b, instruction, device->second);
    }
    const auto fed = annotations.fed.find(&instruction);
    if (fed != annotations.fed.end()) return side_effects_.RewriteOutfeed(b, instruction, fed->second);
    return ops_.Rewrite(b, instruction);
  }

  RewriteState& state_;
  OpRewriter ops_;
  SideEffectRewriter side_effects_;
  ControlFlowRewriter control_flow_;
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
