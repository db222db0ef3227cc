#include "hlo/passes/product_order_pass.h"

#include <algorithm>
#include <vector>

#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

// True if the dimensions in `dims` with more than one element of `shape` are in increasing order.
bool SizedInOrder(const Shape& shape, const Dims& dims) {
  int64_t last = -1;
  for (const int64_t d : dims) {
    if (shape.dim(d) == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

// By dimension of the product: its number after the operands are swapped.
Dims ExchangedDims(const Instruction& dot) {
  const DotView view(dot);
  const int64_t batch = view.lhs_batch().size();
  const int64_t left =
      dot.operand(0)->shape().rank() - batch - static_cast<int64_t>(view.lhs_contracting().size());
  const int64_t rank = dot.shape().rank();
  Dims exchanged(rank);
  for (int64_t d = 0; d < rank; ++d) {
    exchanged[d] = d < batch ? d : d < batch + left ? d + (rank - batch - left) : d - left;
  }
  return exchanged;
}

Instruction* AppendExchanged(const Instruction& dot, const Dims& exchanged, Computation* computation) {
  Dims dims(exchanged.size());
  for (size_t d = 0; d < dims.size(); ++d) dims[exchanged[d]] = dot.shape().dim(d);
  Instruction* product =
      computation->AddClone(dot, Shape(dot.shape().element_type(), dims), {dot.operand(1), dot.operand(0)});
  xla::HloInstructionProto* attrs = product->MutableAttrs();
  xla::DotDimensionNumbers* numbers = attrs->mutable_dot_dimension_numbers();
  numbers->mutable_lhs_batch_dimensions()->Swap(numbers->mutable_rhs_batch_dimensions());
  numbers->mutable_lhs_contracting_dimensions()->Swap(numbers->mutable_rhs_contracting_dimensions());
  if (attrs->precision_config().operand_precision_size() == 2) {
    attrs->mutable_precision_config()->mutable_operand_precision()->SwapElements(0, 1);
  }
  return product;
}

// A value equal to `transpose`, made without a transpose; null if it stays.
Instruction* WithoutTranspose(const Instruction& transpose, Computation* computation) {
  const Instruction& dot = *transpose.operand(0);
  const Shape& shape = transpose.shape();
  if (shape.IsDynamic() || !shape.HasRowMajorLayout()) return nullptr;
  Dims permutation(transpose.dimensions().begin(), transpose.dimensions().end());
  if (SizedInOrder(dot.shape(), permutation)) return nullptr;
  const Dims exchanged = ExchangedDims(dot);
  for (int64_t& d : permutation) d = exchanged[d];
  Dims sizes(permutation.size());
  for (size_t i = 0; i < sizes.size(); ++i) sizes[permutation[i]] = shape.dim(i);
  if (!SizedInOrder(Shape(shape.element_type(), sizes), permutation)) return nullptr;
  Instruction* product = AppendExchanged(dot, exchanged, computation);
  if (product->shape().dims() == shape.dims()) return product;
  Instruction* reshape = computation->Add(Opcode::kReshape, shape, {product});
  reshape->set_metadata(transpose.metadata());
  return reshape;
}

bool ExchangeIn(Computation* computation) {
  const int n = computation->size();
  std::vector<int> uses(n, 0);
  std::vector<bool> awaited(n, false);
  for (const auto& op : computation->instructions()) {
    for (const Instruction* operand : op->operands()) ++uses[operand->index()];
    for (const Instruction* before : op->control_predecessors()) awaited[before->index()] = true;
  }
  ++uses[computation->root()->index()];
  const auto is_tied = [&](const Instruction& op) {
    return awaited[op.index()] || !op.control_predecessors().empty();
  };
  std::vector<Instruction*> now(n, nullptr);  // By index: replacements.
  std::vector<bool> goes(n, false);
  std::vector<Instruction*> order;
  bool changed = false;
  for (int i = 0; i < n; ++i) {
    Instruction* op = computation->instruction(i);
    const int first = op->num_operands() == 0 ? -1 : op->operand(0)->index();
    for (int k = 0; changed && k < op->num_operands(); ++k) {
      if (Instruction* other = now[op->operand(k)->index()]) op->set_operand(k, other);
    }
    order.push_back(op);
    if (first < 0 || uses[first] != 1 || is_tied(*op)) continue;
    Instruction* x = op->operand(0);
    if (op->opcode() == Opcode::kReshape && x->index() >= n && x->opcode() == Opcode::kReshape) {
      // Merge a reshape with the reshape that this pass added.
      x->mutable_shape() = op->shape();
      x->set_metadata(op->metadata());
      now[i] = x;
      goes[i] = true;
      continue;
    }
    if (op->opcode() != Opcode::kTranspose || x->index() >= n || x->opcode() != Opcode::kDot ||
        x->num_operands() != 2 || is_tied(*x)) {
      continue;
    }
    const int size = computation->size();
    now[i] = WithoutTranspose(*op, computation);
    if (now[i] == nullptr) continue;
    for (int k = size; k < computation->size(); ++k) order.push_back(computation->instruction(k));
    goes[i] = goes[first] = changed = true;
  }
  if (!changed) return false;
  if (Instruction* root = now[computation->root()->index()]) computation->set_root(root);
  order.erase(std::remove_if(order.begin(), order.end(),
                             [&](const Instruction* op) { return op->index() < n && goes[op->index()]; }),
              order.end());
  computation->Reorder(order);
  return true;
}

}  // namespace

absl::StatusOr<bool> ProductOrderPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) changed |= ExchangeIn(computation.get());
  return changed;
}

}  // namespace toroid
