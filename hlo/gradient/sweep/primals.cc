#include "hlo/gradient/sweep/primals.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/gradient/sweep/kept_values.h"

namespace toroid {

void Primals::BeginLayer(LayerBarrier* barrier) {
  barrier_ = barrier;
  of_layer_.clear();
}

Value Primals::Known(const Instruction& value) const {
  const auto computed = computed_.find(&value);
  if (computed != computed_.end()) return computed->second;
  const auto of_layer = of_layer_.find(&value);
  return of_layer != of_layer_.end() ? of_layer->second : nullptr;
}

Value Primals::Kept(const Instruction& value) {
  const Value kept = kept_(value);
  if (kept == nullptr || barrier_ == nullptr || !kept->shape().IsArray()) return kept;
  return barrier_->ValueBehind(kept);
}

Value Primals::Again(const Instruction& op, absl::Span<const Value> operands) {
  const Value again = b_.Clone(op, op.shape(), operands);
  again->set_called(op.called());
  again->set_sharding(op.sharding());
  const xla::OpMetadata*& metadata = metadata_[op.metadata()];
  if (metadata == nullptr) {
    auto* now = op.metadata() == nullptr ? b_.module()->New<xla::OpMetadata>()
                                         : b_.module()->New<xla::OpMetadata>(*op.metadata());
    now->set_op_name(now->op_name().empty() ? "recomputed" : absl::StrCat("recomputed/", now->op_name()));
    metadata = now;
  }
  again->set_metadata(metadata);
  if (TakesNoWork(op)) {
    of_layer_[&op] = again;
    return again;
  }
  if (CannotBeRepeated(op) && status_.ok()) {
    status_ = absl::UnimplementedError(
        absl::StrCat(op.Path(), ": ", op.opcode_name(),
                     " cannot be computed again for the backward pass of the call or branch that it "
                     "stands in; inline the call"));
  }
  if (barrier_ != nullptr) barrier_->set_is_needed();
  computed_[&op] = again;
  return again;
}

Value Primals::Get(const Instruction& value) {
  // No recursion, since a chain may be as long as the program.
  std::vector<const Instruction*> todo = {&value};
  while (!todo.empty()) {
    const Instruction& now = *todo.back();
    if (Known(now) != nullptr) {
      todo.pop_back();
      continue;
    }
    if (const Value kept = Kept(now)) {
      of_layer_[&now] = kept;
      todo.pop_back();
      continue;
    }
    std::vector<Value> operands;
    for (const Instruction* operand : now.operands()) {
      if (const Value known = Known(*operand)) {
        operands.push_back(known);
      } else {
        todo.push_back(operand);
      }
    }
    if (static_cast<int>(operands.size()) < now.num_operands()) continue;
    Again(now, operands);
    todo.pop_back();
  }
  return Known(value);
}

}  // namespace toroid
