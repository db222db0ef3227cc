#include "partitioner/prepare/prepared_program.h"

#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/devices/device_limit.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/passes/dce_pass.h"
#include "hlo/passes/duplicates_pass.h"
#include "hlo/passes/expand_ops_pass.h"
#include "hlo/passes/inline_calls_pass.h"
#include "hlo/passes/merge_movement_pass.h"
#include "hlo/passes/mixed_precision.h"
#include "hlo/passes/run_time_sizes_pass.h"
#include "partitioner/ops/op_families.h"
#include "partitioner/prepare/prepare_passes.h"
#include "partitioner/propagation/read_annotations.h"

namespace toroid {
namespace {

absl::flat_hash_set<const Instruction*> SlicesReadThrough(const Module& module) {
  absl::flat_hash_set<const Instruction*> read_through, needed;
  for (const auto& computation : module.computations()) {
    needed.insert(computation->root());
    for (const auto& instruction : computation->instructions()) {
      const auto source = FamilyOf(instruction->opcode()).source;
      for (int k = 0; k < instruction->num_operands(); ++k) {
        const Instruction* operand = instruction->operand(k);
        if (operand->opcode() != Opcode::kSlice) continue;
        const bool is_through = source != nullptr && &source(*instruction, k) != operand;
        (is_through ? read_through : needed).insert(operand);
      }
    }
  }
  for (const Instruction* slice : needed) read_through.erase(slice);
  return read_through;
}

// Ops that DuplicatesPass must not merge with equal ones: ops with a sharding or attributes, which may differ
// in meaning; custom calls and random numbers; and ops with a body.
bool StaysApart(const Instruction& op) {
  return op.sharding() != nullptr || op.frontend_attributes() != nullptr ||
         op.opcode() == Opcode::kCustomCall || op.opcode() == Opcode::kRngBitGenerator ||
         HasTrait(op.opcode(), kRunsBody);
}

// A permutation of 0..n-1 that depends on the seed alone.
std::vector<int64_t> RandomPermutation(int64_t n, uint64_t seed) {
  std::vector<int64_t> permutation(n);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::mt19937_64 random(seed);
  for (int64_t i = n - 1; i > 0; --i) std::swap(permutation[i], permutation[random() % (i + 1)]);
  return permutation;
}

absl::Status Relabel(const std::vector<int64_t>& permutation, Annotations* annotations) {
  for (auto& [instruction, device] : annotations->device) device = permutation[device];
  ASSIGN_OR_RETURN(annotations->mesh, annotations->mesh.Relabeled(permutation));
  for (auto& annotation : annotations->tensor) {
    if (!annotation || !annotation->foreign) continue;
    const HloSharding& old = *annotation->foreign;
    std::vector<int64_t> devices(old.order().size());
    for (int64_t i = 0; i < old.order().size(); ++i) devices[i] = permutation[old.order().DeviceAt(i)];
    ASSIGN_OR_RETURN(DeviceOrder order, DeviceOrder::Explicit(std::move(devices)));
    annotation->foreign =
        HloSharding::Tiled({old.tiles().begin(), old.tiles().end()},
                           {old.subgroups().begin(), old.subgroups().end()}, std::move(order));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view NameOf(ProgramForm form) {
  switch (form) {
    case ProgramForm::kAsGiven:
      return "as_given";
    case ProgramForm::kUnmergedDims:
      return "unmerged_dims";
    case ProgramForm::kLateReversals:
      break;
  }
  return "late_reversals";
}

absl::StatusOr<std::unique_ptr<PreparedProgram>> PrepareProgram(const Module& module,
                                                                const PartitionOptions& options,
                                                                ProgramForm form) {
  if (options.device_order_seed && HasManualRegions(module)) {
    return absl::UnimplementedError(
        "a device order cannot be changed under manual regions, which name devices");
  }
  RETURN_IF_ERROR(CheckShardyAttributes(module));
  auto program = std::make_unique<PreparedProgram>();
  PassPipeline pipeline;
  pipeline.Add<MixedPrecisionPass>().Add<ExpandOpsPass>().Add<InlineCallsPass>().Add<RunTimeSizesPass>();
  pipeline.Add<DcePass>().Add<ConstantStartsPass>();
  // Merge slices of pads, so that the array moves once.
  const auto is_stated = [&](const Instruction& op) {
    return op.sharding_is_given() ||
           (op.opcode() == Opcode::kPad && op.FrontendAttribute("xla.sdy.sharding") != nullptr);
  };
  pipeline.Add<MergeMovementPass>(MergeMovementPass::Options{.stays = is_stated, .shifts_alone = true});
  pipeline.Add<SingleRowsPass>();
  // Merge equal contractions, reductions and the like, so that they are computed once. Cheap ops stay
  // separate, since each user may want them in its own sharding.
  pipeline.Add<DuplicatesPass>(DuplicatesPass::Options{.stays = StaysApart, .leave_cheap = true});
  if (form == ProgramForm::kUnmergedDims) pipeline.Add<UnmergedDimsPass>().Add<DcePass>();
  if (form == ProgramForm::kLateReversals) pipeline.Add<LateReversalsPass>().Add<DcePass>();
  ASSIGN_OR_RETURN(program->passes, pipeline.RunOnCopy(module, &program->flat, options.observer));
  program->graph = std::make_unique<FlowGraph>(*program->flat);
  program->read_through = SlicesReadThrough(*program->flat);
  ASSIGN_OR_RETURN(program->annotations,
                   ReadAnnotations(*program->flat, *program->graph, options.num_partitions));
  if (options.device_order_seed) {
    const int64_t n = program->annotations.mesh.num_devices();
    RETURN_IF_ERROR(Relabel(RandomPermutation(n, *options.device_order_seed), &program->annotations));
    program->relabeled = true;
  }
  program->num_replicas = ReplicasOf(module);
  if (program->num_replicas < 1 ||
      program->num_replicas > kMaxDevices / program->annotations.mesh.num_devices()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "asks for ", program->num_replicas, " replicas of ", program->annotations.mesh.num_devices(),
        " devices; at most ", kMaxDevices, " devices are possible"));
  }
  if (options.replicate_outputs) {
    for (const int output : program->graph->outputs()) {
      const int rank = program->graph->shape(output).rank();
      program->annotations.tensor[output] = Annotation::Closed(Sharding::Replicated(rank));
    }
  }
  program->planner = std::make_unique<ReshardPlanner>(&program->annotations.mesh, options.cost);
  program->exchanges = std::make_unique<ExchangePrices>(&program->annotations.mesh, options.cost);
  return program;
}

ShardingPlan ProposeShardings(const PreparedProgram& program, const Annotations& annotations,
                              const std::vector<bool>& even, GrowthLog* log) {
  ShardingPlan plan = PropagateShardings(*program.graph, annotations, even, program.pricing(), log);
  // Propagation returns no partial shardings; restore those of parameters that are annotated as partial sums.
  for (const Instruction* parameter : program.flat->entry()->parameters()) {
    for (const int leaf : program.graph->Leaves(*parameter)) {
      if (!annotations.tensor[leaf]) continue;
      plan[leaf].partial = annotations.tensor[leaf]->sharding.partial;
      plan[leaf].reducer = annotations.tensor[leaf]->sharding.reducer;
    }
  }
  return plan;
}

absl::Status GiveSharding(int tensor, const HloSharding& sharding, PreparedProgram* program) {
  const Shape& shape = program->graph->shape(tensor);
  RETURN_IF_ERROR(sharding.Validate(shape));
  const std::optional<Sharding> given = program->annotations.mesh.FromHlo(sharding, shape.rank());
  if (!given) {
    return absl::InvalidArgumentError(
        absl::StrCat("sharding ", sharding.ToString(),
                     " cuts the devices where no sharding of the module does; give it to the module"));
  }
  program->annotations.tensor[tensor] = Annotation::Closed(*given);
  return absl::OkStatus();
}

}  // namespace toroid
