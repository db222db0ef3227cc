#include "simulator/stages/as_written.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/schedule.h"
#include "hlo/passes/dce_pass.h"
#include "simulator/chip/core_model.h"

namespace toroid {
namespace {

bool HasTiles(const Shape& shape) {
  if (shape.IsTuple()) return absl::c_any_of(shape.tuple_shapes(), HasTiles);
  return shape.IsArray() && shape.custom_layout() != nullptr && shape.custom_layout()->tiles_size() > 0;
}

// Replaces the fusions in a fused computation by their instructions.
absl::Status DissolveFusions(Computation* fused) {
  const int size = fused->size();
  bool any = false;
  for (int i = 0; i < size; ++i) {
    Instruction* inner = fused->instruction(i);
    if (inner->opcode() != Opcode::kFusion || inner->called().empty()) continue;
    const Computation& callee = *inner->called(0);
    const std::vector<Instruction*> arguments(inner->operands().begin(), inner->operands().end());
    const std::vector<Instruction*> made = CloneInstructions(callee, arguments, fused);
    ReplaceUses(inner, made[callee.root()->index()]);
    any = true;
  }
  return any ? SortInstructions(fused) : absl::OkStatus();
}

// What an async-start runs.
const Instruction* AsyncRoot(const Instruction& op) {
  return op.opcode() == Opcode::kAsyncStart && op.called().size() == 1 ? op.called(0)->root() : nullptr;
}

}  // namespace

bool IsWrittenByTpuCompiler(const Module& module) {
  if (!IsScheduled(module)) return false;
  return absl::c_any_of(module.entry()->instructions(), [](const auto& op) { return HasTiles(op->shape()); });
}

absl::StatusOr<std::unique_ptr<Module>> AsWritten(const Module& module) {
  std::unique_ptr<Module> copy = CloneModule(module);
  for (int c = 0; c < copy->num_computations(); ++c) {
    Computation* computation = copy->computation(c);
    const std::vector<const Instruction*> written = ExecutionOrder(*module.computation(c));
    if (written.size() == static_cast<size_t>(computation->size())) {
      std::vector<Instruction*> order;
      for (const Instruction* op : written) order.push_back(computation->instruction(op->index()));
      computation->Reorder(order);
    }
  }
  // Callees stand before their callers, so that what is copied has no fusions any more.
  for (int c = 0; c < copy->num_computations(); ++c) {
    const Computation* caller = copy->computation(c);
    for (const auto& op : caller->instructions()) {
      if (op->opcode() == Opcode::kFusion && !op->called().empty()) {
        RETURN_IF_ERROR(DissolveFusions(copy->computation(op->called(0)->index())));
      }
    }
  }
  EliminateDeadCode(copy.get());
  return copy;
}

bool StartsExchange(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kAllReduceStart:
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
      return true;
    default:
      return AsyncRoot(op) != nullptr && IsCollective(AsyncRoot(op)->opcode());
  }
}

std::optional<OpTime> OnChipCopyTime(const Instruction& op, const CoreSpec& core) {
  // Parts that slices brought to their places are named as one array.
  if (IsCallTo(op, "ConcatBitcast")) return OpTime();
  const Instruction* copied = op.opcode() == Opcode::kCopyStart ? &op : AsyncRoot(op);
  if (copied == nullptr || StartsExchange(op)) return std::nullopt;
  OpTime time;
  time.host_copy = HostCopy::kToChip;
  if (op.attrs().has_cross_program_prefetch_index()) return time;
  int64_t bytes = 0;
  if (op.opcode() == Opcode::kCopyStart) {
    bytes = ArrayBytes(op.operand(0)->shape());
  } else {
    const Work work = WorkOf(*copied);
    bytes = std::min(work.bytes_read, work.bytes_written);
  }
  time.picoseconds = PicosecondsOf(static_cast<double>(bytes) / StreamBytesPerSecond(core));
  return time;
}

}  // namespace toroid
