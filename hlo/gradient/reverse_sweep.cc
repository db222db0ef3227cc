#include "hlo/gradient/reverse_sweep.h"

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/gradient/leaves.h"
#include "hlo/ir/edit.h"

namespace toroid {

absl::Status ReverseSweep::Run() {
  for (int i = forward_.size() - 1; i >= 0; --i) {
    const Instruction& op = *forward_.instruction(i);
    if (!cotangents_.contains(&op)) continue;
    FollowSharding(op);
    if (op.opcode() == Opcode::kParameter || sources_.contains(&op)) continue;
    b_.set_metadata(MetadataOf(op));
    const absl::Status visited = visit_(op, this);
    if (!visited.ok()) return Annotate(visited, op.Path());
    if (!b_.status().ok()) return Annotate(b_.status(), op.Path());
  }
  return absl::OkStatus();
}

bool ReverseSweep::IsKept(const Instruction& value) const {
  if (options_.keep != nullptr) return options_.keep(value);
  switch (value.opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kConvert:
    case Opcode::kIota:
    case Opcode::kConstant:
      return false;
    default:
      return true;
  }
}

const xla::OpMetadata* ReverseSweep::MetadataOf(const Instruction& op) {
  if (op.metadata() == nullptr) return nullptr;
  const xla::OpMetadata*& of_gradient = metadata_[op.metadata()];
  if (of_gradient == nullptr) {
    auto* metadata = b_.module()->New<xla::OpMetadata>(*op.metadata());
    if (!metadata->op_name().empty()) metadata->set_op_name(absl::StrCat("gradient/", metadata->op_name()));
    of_gradient = metadata;
  }
  return of_gradient;
}

Value* ReverseSweep::Slot(const Instruction& value, int leaf) {
  const ActiveLeaves& active = active_[value.index()];
  if (!active[leaf]) return nullptr;
  std::vector<Value>& leaves = cotangents_[&value];
  if (leaves.empty()) leaves.resize(active.size(), nullptr);
  return &leaves[leaf];
}

void ReverseSweep::Add(const Instruction& value, int leaf, Value cotangent) {
  Value* slot = Slot(value, leaf);
  if (slot == nullptr) return;
  const Shape shape = LeafShapes(value.shape())[leaf];
  // A complex value's change is real for a real operand.
  if (IsComplex(cotangent->shape().element_type()) && !IsComplex(shape.element_type())) {
    cotangent = b_.Op(Opcode::kReal, shape, {cotangent});
  }
  cotangent = b_.Convert(cotangent, shape.element_type());
  *slot = *slot == nullptr ? cotangent : b_.Add(*slot, cotangent);
}

void ReverseSweep::AddAt(const Instruction& value, Value cotangent, absl::Span<const Value> starts) {
  Value* slot = Slot(value, 0);
  if (slot == nullptr) return;
  if (*slot == nullptr) {
    const Value zeros = b_.Zeros(value.shape().element_type(), value.shape().dims());
    *slot = b_.DynamicUpdateSlice(zeros, cotangent, starts);
    return;
  }
  const Value part = b_.DynamicSlice(*slot, starts, cotangent->shape().dims());
  *slot = b_.DynamicUpdateSlice(*slot, b_.Add(part, cotangent), starts);
}

Value ReverseSweep::Cotangent(const Instruction& value, int leaf) const {
  const auto found = cotangents_.find(&value);
  return found == cotangents_.end() ? nullptr : found->second[leaf];
}

Value ReverseSweep::CotangentOrZeros(const Instruction& value, int leaf) {
  if (const Value cotangent = Cotangent(value, leaf)) return cotangent;
  const Shape shape = LeafShapes(value.shape())[leaf];
  return b_.Zeros(shape.element_type(), shape.dims());
}

void ReverseSweep::ReplaceForward(const Instruction& op, Value now) {
  if (b_.status().ok() && op.computation() == b_.computation()) ReplaceUses(&op, now);
}

// A cotangent lies as its value does.
void ReverseSweep::FollowSharding(const Instruction& op) {
  if (op.sharding() == nullptr || !op.shape().IsArray()) return;
  Value& cotangent = cotangents_.at(&op)[0];
  if (cotangent == nullptr) return;
  cotangent = b_.CustomCall("Sharding", cotangent->shape(), {cotangent});
  cotangent->set_sharding(op.sharding());
}

}  // namespace toroid
