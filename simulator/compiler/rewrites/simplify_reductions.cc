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

// A reduction of a reduction: one over the dimensions of both.
Instruction* Simplifier::ReduceOfReduce(Instruction* reduce) {
  Instruction* inner = reduce->operand(0);
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
