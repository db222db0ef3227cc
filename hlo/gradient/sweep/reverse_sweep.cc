#include "hlo/gradient/sweep/reverse_sweep.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/gradient/sweep/kept_values.h"
#include "hlo/gradient/sweep/leaves.h"
#include "hlo/ir/edit.h"

namespace toroid {

absl::Status ReverseSweep::Run() {
  PlanLayers();
  for (int place = static_cast<int>(order_.size()) - 1; place >= 0; --place) {
    const Instruction& op = *order_[place];
    if (!cotangents_.contains(&op)) continue;
    b_.set_metadata(MetadataOf(op));
    EnterLayerAt(place);
    FollowSharding(op);
    if (op.opcode() == Opcode::kParameter || sources_.contains(&op)) continue;
    const absl::Status visited = visit_(op, this);
    if (!visited.ok()) return Annotate(visited, op.Path());
    if (!b_.status().ok()) return Annotate(b_.status(), op.Path());
    if (!primals_.status().ok()) return primals_.status();
  }
  RemoveIdleBarriers();
  return absl::OkStatus();
}

void ReverseSweep::PlanLayers() {
  for (const auto& op : forward_.instructions()) order_.push_back(op.get());
  if (options_.keep == nullptr) return;
  if (options_.layer == nullptr) {
    // In the backward pass of a loop's body, each trip recomputes its own values: no barriers.
    if (b_.computation() != &forward_) return;
    int64_t kept = 0;
    for (const Instruction* op : order_) {
      layer_.push_back(kept);
      if (op->num_operands() > 0 && !TakesNoWork(*op) && IsKept(options_, *op)) ++kept;
    }
    return;
  }
  std::vector<int64_t> of_op;
  for (const Instruction* op : order_) of_op.push_back(options_.layer(*op));
  if (b_.computation() != &forward_ &&
      absl::c_all_of(of_op, [&](int64_t layer) { return layer == of_op[0]; }))
    return;
  const auto in_layers = [&](const Instruction* op) {
    return absl::c_all_of(op->operands(), [&](const Instruction* operand) {
      return of_op[operand->index()] <= of_op[op->index()];
    });
  };
  if (absl::c_all_of(order_, in_layers)) {
    absl::c_stable_sort(order_, [&](const Instruction* a, const Instruction* b) {
      return of_op[a->index()] < of_op[b->index()];
    });
  }
  for (const Instruction* op : order_) layer_.push_back(of_op[op->index()]);
}

void ReverseSweep::EnterLayerAt(int place) {
  if (layer_.empty()) return;
  if (!barriers_.empty() && layer_[place] == entered_) return;
  entered_ = layer_[place];
  barriers_.push_back(std::make_unique<LayerBarrier>(&b_));
  LayerBarrier& barrier = *barriers_.back();
  primals_.BeginLayer(&barrier);
  // Cotangents that come from later layers go through the barrier.
  for (int i = place; i >= 0 && layer_[i] == entered_; --i) {
    const auto found = cotangents_.find(order_[i]);
    if (found == cotangents_.end()) continue;
    for (Value& cotangent : found->second) {
      if (cotangent != nullptr) cotangent = barrier.ValueBehind(cotangent);
    }
  }
}

// Replaces values behind barriers that are not needed by those before them.
void ReverseSweep::RemoveIdleBarriers() {
  std::vector<Instruction*> now(b_.computation()->size(), nullptr);
  const auto after = [&](Value value) {
    return now[value->index()] != nullptr ? now[value->index()] : value;
  };
  for (const auto& barrier : barriers_) {
    if (barrier->is_needed()) continue;
    for (const auto& [before, behind] : barrier->values()) now[behind->index()] = after(before);
  }
  for (const auto& op : b_.computation()->instructions()) {
    for (int i = 0; i < op->num_operands(); ++i) op->set_operand(i, after(op->operand(i)));
  }
  for (auto& [value, leaves] : cotangents_) {
    for (Value& cotangent : leaves) {
      if (cotangent != nullptr) cotangent = after(cotangent);
    }
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
  // A real operand changes only in its real part.
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

Value ReverseSweep::ForwardOperand(const Instruction& op, int i) {
  return op.computation() == b_.computation() ? op.operand(i) : Primal(*op.operand(i));
}

void ReverseSweep::ReplaceForward(const Instruction& op, Value now) {
  if (b_.status().ok() && op.computation() == b_.computation()) ReplaceUses(&op, now);
}

// A cotangent has the sharding of its value.
void ReverseSweep::FollowSharding(const Instruction& op) {
  if (op.sharding() == nullptr || !op.shape().IsArray()) return;
  Value& cotangent = cotangents_.at(&op)[0];
  if (cotangent == nullptr) return;
  cotangent = b_.CustomCall("Sharding", cotangent->shape(), {cotangent});
  cotangent->set_sharding(op.sharding());
}

}  // namespace toroid
