#include "partitioner/prepare/single_rows_pass.h"

#include <vector>

#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {
namespace {

bool IsOneRow(const Instruction& slice, int d) {
  return slice.shape().dim(d) == 1 && slice.operand(0)->shape().dim(d) > 1;
}

bool TakesOneRow(const Instruction& op) {
  if (op.opcode() != Opcode::kSlice || op.shape().IsDynamic() || op.operand(0)->shape().IsDynamic() ||
      op.shape().NumElements() == 0 || op.sharding() != nullptr ||
      op.FrontendAttribute("xla.sdy.sharding") != nullptr || !op.control_predecessors().empty()) {
    return false;
  }
  for (int d = 0; d < op.shape().rank(); ++d) {
    if (IsOneRow(op, d)) return true;
  }
  return false;
}

Instruction* TakeRows(InstructionBuilder& b, const Instruction& slice) {
  Instruction* x = slice.operand(0);
  const int rank = slice.shape().rank();
  std::vector<Instruction*> starts;
  Dims sizes, begin, limit, stride;
  for (int d = 0; d < rank; ++d) {
    const SliceBounds bounds = SliceView(slice)[d];
    const bool one = IsOneRow(slice, d);
    starts.push_back(b.IntScalar(one ? bounds.start : 0, xla::S64));
    sizes.push_back(one ? 1 : x->shape().dim(d));
    begin.push_back(one ? 0 : bounds.start);
    limit.push_back(one ? 1 : bounds.limit);
    stride.push_back(one ? 1 : bounds.stride);
  }
  Instruction* rows = b.DynamicSlice(x, starts, sizes);
  rows->set_name(slice.name());
  return b.Slice(rows, begin, limit, stride);
}

// By index of an instruction: whether it has users, all of them reshapes, and is not the root.
std::vector<bool> ReadByReshapes(const Computation& computation) {
  std::vector<bool> reshaped(computation.size(), false), other(computation.size(), false);
  for (const auto& op : computation.instructions()) {
    for (const Instruction* operand : op->operands()) {
      (op->opcode() == Opcode::kReshape ? reshaped : other)[operand->index()] = true;
    }
  }
  other[computation.root()->index()] = true;
  for (size_t i = 0; i < other.size(); ++i) reshaped[i] = reshaped[i] && !other[i];
  return reshaped;
}

absl::StatusOr<bool> RunIn(Computation* computation) {
  const std::vector<bool> reshaped = ReadByReshapes(*computation);
  std::vector<Instruction*> now(reshaped.size(), nullptr);
  InstructionBuilder b(computation);
  bool changed = false;
  for (size_t i = 0; i < now.size(); ++i) {
    const Instruction* op = computation->instruction(static_cast<int>(i));
    if (!reshaped[i] || !TakesOneRow(*op)) continue;
    b.set_metadata(op->metadata());
    now[i] = TakeRows(b, *op);
    changed = true;
  }
  RETURN_IF_ERROR(b.status());
  if (changed) RETURN_IF_ERROR(ReplaceAndDrop(computation, now));
  return changed;
}

}  // namespace

absl::StatusOr<bool> SingleRowsPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    if (computation->is_fusion() || computation->root() == nullptr) continue;
    ASSIGN_OR_RETURN(const bool here, RunIn(computation.get()));
    changed |= here;
  }
  return changed;
}

}  // namespace toroid
