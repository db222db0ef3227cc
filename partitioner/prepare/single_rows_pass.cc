#include "partitioner/prepare/single_rows_pass.h"

#include <cstdint>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/instruction_builder.h"

namespace toroid {
namespace {

bool IsOneRow(const Instruction& slice, int d) {
  return slice.shape().dim(d) == 1 && slice.operand(0)->shape().dim(d) > 1;
}

bool TakesOneRow(const Instruction& op) {
  if (op.opcode() != Opcode::kSlice || op.shape().IsDynamic() || op.operand(0)->shape().IsDynamic() || op.shape().NumElements() == 0 ||
      op.sharding() != nullptr || op.FrontendAttribute("xla.sdy.sharding") != nullptr || !op.control_predecessors().empty()) {
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

// Those that reshapes alone read.
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
  const int n = computation->size();
  const std::vector<bool> reshaped = ReadByReshapes(*computation);
  std::vector<Instruction*> now(n, nullptr), order;
  InstructionBuilder b(computation);
  bool changed = false;
  for (int i = 0; i < n; ++i) {
    Instruction* op = computation->instruction(i);
    for (int k = 0; changed && k < op->num_operands(); ++k) {
      const int index = op->operand(k)->index();
      if (index < n && now[index] != nullptr) op->set_operand(k, now[index]);
    }
    if (!reshaped[i] || !TakesOneRow(*op)) {
      order.push_back(op);
      continue;
    }
    const int size = computation->size();
    b.set_metadata(op->metadata());
    now[i] = TakeRows(b, *op);
    RETURN_IF_ERROR(b.status());
    for (int k = size; k < computation->size(); ++k) order.push_back(computation->instruction(k));
    order.push_back(op);
    changed = true;
  }
  if (changed) computation->Reorder(order);
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
