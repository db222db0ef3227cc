// Orders of dimensions that values of a computation have by now, and copies of those that are wanted in another one.
#pragma once

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/module.h"
#include "simulator/compiler/layout/preferred_order.h"
#include "simulator/program/dim_orders.h"
#include "simulator/program/tiling.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

// The orders of a computation's values as far as they are decided, and the copies of values that some reader wants in another
// order. Base of LayoutAssigner, which goes through the computation.
class LayoutCopies {
 public:
  LayoutCopies(Computation* computation, const Tiling& tiling)
      : computation_(computation),
        tiling_(tiling),
        state_(*computation, tiling),
        n_(state_.n),
        orders_(state_.orders) {}

 protected:
  bool KeepsTilesIn(Shape from, const Dims& before, Shape to, const Dims& after) const {
    SetOrder(before, &from);
    SetOrder(after, &to);
    return KeepsTiles(from, to, tiling_);
  }
  // It is padded to at most most_padding times what the order with the least padding takes.
  bool PadsLittle(Shape shape, const Dims& order) const {
    SetOrder(LeastPaddingOrder(shape, tiling_), &shape);
    const double least = PaddedElements(shape, tiling_);
    SetOrder(order, &shape);
    return PaddedElements(shape, tiling_) <= Thresholds().most_padding() * least;
  }
  bool Known(const Instruction* value) const { return state_.Known(value); }
  Dims OrderOf(const Instruction* value) const { return state_.OrderOf(value); }

  // Copies that only products read become converts to bf16: products round them anyway.
  void RoundCopies();

  // The value in that order: itself, or a copy.
  Instruction* As(Instruction* value, const Dims& order, bool is_written = false);
  // It lies so, or a copy of it does.
  bool HasCopyAs(const Instruction& value, const Dims& order) const {
    return LiesAlike(value.shape(), OrderOf(&value), order) ||
           copies_.contains(std::pair<const Instruction*, Dims>(&value, SizedOrder(value.shape(), order)));
  }
  // The value as a result of the program: in the order with the least padding, and copied if it is an argument under another
  // name.
  Instruction* AsResult(Instruction* value) {
    if (!value->shape().IsArray()) return value;
    const Dims order = LeastPaddingOrder(value->shape(), tiling_);
    Instruction* result = As(value, order);
    if (result != value) return result;
    const Instruction* source = value;
    while (source->opcode() == Opcode::kTranspose || source->opcode() == Opcode::kReshape)
      source = source->operand(0);
    if (source == value || source->opcode() != Opcode::kParameter) return value;
    Shape shape = value->shape();
    SetOrder(order, &shape);
    Instruction* copy = computation_->Add(Opcode::kCopy, shape, {value});
    copy->set_metadata(value->metadata());
    return copy;
  }
  void Need(Instruction* op, int k, const Dims& order, bool is_written = false) {
    Instruction* operand = op->operand(k);
    Instruction* now = As(operand, order, is_written);
    if (now != operand) op->set_operand(k, now);
  }
  void NeedDense(Instruction* op, int k) {
    if (op->operand(k)->shape().IsArray()) Need(op, k, LeastPaddingOrder(op->operand(k)->shape(), tiling_));
  }
  // Gives the order to a value that has none, and the orders that follow from it to the values without one from which it is
  // made.
  void Settle(Instruction* value, const Dims& order);

  Computation* computation_;
  const Tiling tiling_;
  LayoutState state_;
  const int n_;
  std::vector<Dims>& orders_;
  absl::flat_hash_map<std::pair<const Instruction*, Dims>, Instruction*> copies_;
  std::vector<std::pair<const Instruction*, Instruction*>> in_order_;  // What is copied, and its copy.
};

}  // namespace toroid
