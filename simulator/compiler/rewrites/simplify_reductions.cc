#include "simulator/compiler/rewrites/simplifier.h"

namespace toroid {

// Of vectors that were columns: made of these.
Instruction* Simplifier::MadeOfColumns(Instruction* op) {
  if (op->shape().rank() != 1 || !op->shape().IsArray() || !op->control_predecessors().empty())
    return nullptr;
  const Shape* column = nullptr;
  for (const Instruction* operand : op->operands()) {
    if (IsEverywhereTheSame(*operand)) continue;
    if (!IsColumnToVector(*operand, tiling_)) return nullptr;
    const Shape& shape = operand->operand(0)->shape();
    if (column != nullptr && column->dims() != shape.dims()) return nullptr;
    column = &shape;
  }
  if (column == nullptr) return nullptr;
  std::vector<Instruction*> operands;
  for (Instruction* operand : op->operands()) {
    Shape shape = *column;
    shape.set_element_type(operand->shape().element_type());
    operands.push_back(operand->shape().rank() == 0 ? operand
                       : operand->opcode() == Opcode::kBroadcast
                           ? computation_->AddClone(*operand, shape, {operand->operand(0)})
                           : operand->operand(0));
  }
  Shape shape = *column;
  shape.set_element_type(op->shape().element_type());
  return Reshape(*op, computation_->AddClone(*op, shape, operands));
}

// Windows over an array that was padded with what they begin with: their own padding.
Instruction* Simplifier::SimplifiedWindows(Instruction* reduce_window) {
  if (reduce_window->num_operands() != 2 || !reduce_window->shape().IsArray()) return nullptr;
  const Instruction* pad = reduce_window->operand(0);
  if (pad->opcode() != Opcode::kPad || !Uses(Rule::kPaddedWindows)) return nullptr;
  const auto is_same = [](const Instruction* a, const Instruction* b) {
    if (a == b) return true;
    const auto x = SplatOf(a), y = SplatOf(b);
    return x.has_value() && x == y && a->shape().element_type() == b->shape().element_type();
  };
  if (!is_same(pad->operand(1), reduce_window->operand(1))) return nullptr;
  const WindowView windows(*reduce_window);
  const PadView around(*pad);
  std::vector<WindowDim> wider(windows.rank());
  for (int d = 0; d < windows.rank(); ++d) {
    wider[d] = windows[d];
    if (around[d].low < 0 || around[d].high < 0 || wider[d].base_dilation != 1) return nullptr;
    wider[d].padding_low += around[d].low;
    wider[d].padding_high += around[d].high;
    wider[d].base_dilation = around[d].interior + 1;
  }
  Instruction* direct = computation_->AddClone(*reduce_window, reduce_window->shape(),
                                               {pad->operand(0), reduce_window->operand(1)});
  xla::HloInstructionProto* attrs = direct->MutableAttrs();
  for (int d = 0; d < windows.rank(); ++d) WindowView::Set(attrs, d, wider[d]);
  return direct;
}

// Over dimensions of one element, from the neutral element: nothing is added to anything.
// Over more dimensions at once.
Instruction* Simplifier::ReduceOfReduce(Instruction* reduce) {
  Instruction* inner = reduce->operand(0);
  if (IsColumnToVector(*inner, tiling_) && Uses(Rule::kSumsOfColumns)) {
    Instruction* one =
        computation_->AddClone(*reduce, reduce->shape(), {inner->operand(0), reduce->operand(1)});
    one->MutableAttrs()->add_dimensions(1);
    return one;
  }
  if (inner->opcode() != Opcode::kReduce || inner->num_operands() != 2 || !inner->shape().IsArray() ||
      !Uses(Rule::kSumsJoin))
    return nullptr;
  if (inner->index() >= static_cast<int>(readers_.size()) || readers_[inner->index()] != 1 ||
      inner->called().size() != 1)
    return nullptr;
  const std::string& text = texts_[reduce->called(0)->index()];
  if (text.empty() || text != texts_[inner->called(0)->index()]) return nullptr;
  const std::optional<Literal> neutral =
      NeutralElement(reduce->called(0)->root()->opcode(), reduce->shape().element_type());
  if (!neutral || inner->operand(1)->opcode() != Opcode::kConstant) return nullptr;
  const absl::StatusOr<Literal> from = LiteralOf(*inner->operand(1));
  if (!from.ok() || !(*from == *neutral)) return nullptr;
  Dims kept, dims;
  const auto before = inner->dimensions();
  for (int64_t d = 0; d < inner->operand(0)->shape().rank(); ++d) {
    (absl::c_linear_search(before, d) ? dims : kept).push_back(d);
  }
  for (const int64_t d : reduce->dimensions()) dims.push_back(kept[d]);
  absl::c_sort(dims);
  Instruction* one =
      computation_->AddClone(*reduce, reduce->shape(), {inner->operand(0), reduce->operand(1)});
  one->MutableAttrs()->clear_dimensions();
  for (const int64_t d : dims) one->MutableAttrs()->add_dimensions(d);
  return one;
}

Instruction* Simplifier::SimplifiedReduce(Instruction* reduce) {
  if (reduce->num_operands() != 2 || !reduce->shape().IsArray() || reduce->called().size() != 1)
    return nullptr;
  const Instruction* x = reduce->operand(0);
  const Instruction* init = reduce->operand(1);
  const Instruction* root = reduce->called(0)->root();
  if (reduce->called(0)->size() != 3 || root->num_operands() != 2 || root->operand(0) == root->operand(1) ||
      root->operand(0)->opcode() != Opcode::kParameter || root->operand(1)->opcode() != Opcode::kParameter) {
    return nullptr;
  }
  if (Uses(Rule::kSumsBeforeReshape)) {
    if (Instruction* sum = ReductionBeforeReshape(*reduce, computation_)) return sum;
  }
  if (is_second_) {
    if (Instruction* one = ReduceOfReduce(reduce)) return one;
  }
  for (const int64_t d : reduce->dimensions()) {
    if (x->shape().dim(d) != 1) return nullptr;
  }
  const std::optional<Literal> neutral = NeutralElement(root->opcode(), x->shape().element_type());
  if (!neutral || init->opcode() != Opcode::kConstant) return nullptr;
  const absl::StatusOr<Literal> from = LiteralOf(*init);
  if (!from.ok() || !(*from == *neutral)) return nullptr;
  return Uses(Rule::kSumsOfOneElement) ? Reshape(*reduce, reduce->operand(0)) : nullptr;
}

}  // namespace toroid
