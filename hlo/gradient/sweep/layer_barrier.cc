#include "hlo/gradient/sweep/layer_barrier.h"

namespace toroid {

Value LayerBarrier::ValueBehind(Value value) {
  if (!b_.status().ok()) return value;
  const auto known = behind_.find(value);
  if (known != behind_.end()) return known->second;
  if (barrier_ == nullptr) {
    tuple_ = b_.Tuple({value});
    barrier_ = b_.Op(Opcode::kOptimizationBarrier, tuple_->shape(), {tuple_});
  } else {
    std::vector<Value> elements(tuple_->operands().begin(), tuple_->operands().end());
    elements.push_back(value);
    std::vector<Shape> shapes;
    for (const Value element : elements) shapes.push_back(element->shape());
    tuple_->set_operands(elements);
    tuple_->mutable_shape() = Shape::Tuple(shapes);
    barrier_->mutable_shape() = tuple_->shape();
  }
  const Value behind = b_.GetTupleElement(barrier_, static_cast<int64_t>(values_.size()));
  values_.push_back({value, behind});
  behind_[value] = behind;
  return behind;
}

}  // namespace toroid
