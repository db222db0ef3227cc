#include "hlo/passes/unit_dimensions_pass.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

using Kept = std::vector<bool>;  // By dimension: it stays.

bool HasUnits(const Shape& shape) { return absl::c_linear_search(shape.dims(), 1); }

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && !shape.IsDynamic() && !shape.IsBuffer() && shape.HasRowMajorLayout();
}

Kept KeepSized(const Shape& shape) {
  Kept kept(shape.rank());
  for (int d = 0; d < shape.rank(); ++d) kept[d] = shape.dim(d) != 1;
  return kept;
}

Shape Only(const Shape& shape, const Kept& kept) {
  Dims dims;
  for (int d = 0; d < shape.rank(); ++d) {
    if (kept[d]) dims.push_back(shape.dim(d));
  }
  return Shape(shape.element_type(), dims);
}

// The numbers of kept dimensions of `dims`, as they are without the others.
template <typename Range>
Dims Renumbered(const Range& dims, const Kept& kept) {
  Dims numbers;
  for (const int64_t d : dims) {
    if (kept[d]) numbers.push_back(std::count(kept.begin(), kept.begin() + d, true));
  }
  return numbers;
}

template <typename Repeated>
void Assign(const Dims& values, Repeated* field) {
  field->Assign(values.begin(), values.end());
}

// Drops the entries of dimensions that are not kept.
template <typename Repeated>
void DropEntries(const Kept& kept, Repeated* field) {
  int n = 0;
  for (int d = 0; d < field->size(); ++d) {
    if (kept[d]) field->SwapElements(n++, d);
  }
  while (field->size() > n) field->RemoveLast();
}

class Rewriter {
 public:
  explicit Rewriter(Computation* computation)
      : computation_(computation), n_(computation->size()), forms_(n_), is_tied_(n_, false), users_know_(n_, true) {}

  bool Run() {
    for (const auto& op : computation_->instructions()) {
      for (const Instruction* before : op->control_predecessors()) is_tied_[op->index()] = is_tied_[before->index()] = true;
      for (const Instruction* operand : op->operands()) {
        if (op->opcode() != Opcode::kGetTupleElement) users_know_[operand->index()] = false;
      }
    }
    users_know_[computation_->root()->index()] = false;
    bool changed = false;
    for (int i = 0; i < n_; ++i) {
      const Instruction* op = computation_->instruction(i);
      const bool is_rewritten = !is_tied_[i] && op->sharding() == nullptr && Rewrite(*op);
      changed |= is_rewritten;
      if (!is_rewritten) KeepOp(computation_->instruction(i));
    }
    if (!changed) return false;
    computation_->set_root(Full(computation_->root()));
    // Those that were rewritten go: nothing uses them any more.
    for (int i = 0; i < n_; ++i) {
      if (forms_[i].is_gone) order_.push_back(computation_->instruction(i));
    }
    computation_->Reorder(order_);
    std::vector<bool> keep(computation_->size(), true);
    for (int k = computation_->size() - 1, gone = 0; k >= 0 && gone < num_gone_; --k, ++gone) keep[k] = false;
    computation_->Keep(keep);
    return true;
  }

 private:
  // What stands for the value of an instruction that there was.
  struct Forms {
    bool is_gone = false;
    std::vector<Instruction*> arrays;  // The same elements in one shape or another.
    Instruction* tuple = nullptr;      // Of a reduction of several arrays: without dimensions of one element.
  };

  Instruction* Append(Instruction* op) {
    order_.push_back(op);
    return op;
  }

  void KeepOp(Instruction* op) {
    for (int k = 0; k < op->num_operands(); ++k) op->set_operand(k, Full(op->operand(k)));
    order_.push_back(op);
    forms_[op->index()].arrays.insert(forms_[op->index()].arrays.begin(), op);
  }

  Instruction* In(const Shape& shape, Instruction* x) {
    std::vector<Instruction*>& arrays = forms_[x->index()].arrays;
    for (Instruction* array : arrays) {
      if (array->shape().dims() == shape.dims()) return array;
    }
    Instruction* reshape = Append(computation_->Add(Opcode::kReshape, shape, {arrays.back()}));
    reshape->set_metadata(x->metadata());
    arrays.push_back(reshape);
    return reshape;
  }
  Instruction* Full(Instruction* x) { return forms_[x->index()].is_gone ? In(x->shape(), x) : x; }
  Instruction* Sized(Instruction* x) { return In(Only(x->shape(), KeepSized(x->shape())), x); }
  Instruction* With(const Kept& kept, Instruction* x) { return In(Only(x->shape(), kept), x); }

  Instruction* Clone(const Instruction& op, const Shape& shape, absl::Span<Instruction* const> operands) {
    Instruction* clone = Append(computation_->AddClone(op, shape, operands));
    clone->set_cause(op.cause());
    return clone;
  }

  // `value` has the elements of `op`, and takes its place.
  bool Put(const Instruction& op, Instruction* value) {
    Forms& forms = forms_[op.index()];
    forms.is_gone = true;
    ++num_gone_;
    forms.arrays.push_back(value);
    return true;
  }

  // Makes another op of it without dimensions of one element; false if it stays as it is.
  bool Rewrite(const Instruction& op) {
    bool any = HasUnits(op.shape());
    for (const Instruction* operand : op.operands()) any |= HasUnits(operand->shape());
    if (!any && op.opcode() != Opcode::kGetTupleElement) return false;
    for (const Instruction* operand : op.operands()) {
      if (op.opcode() != Opcode::kGetTupleElement && !IsPlain(operand->shape())) return false;
    }
    if (op.opcode() == Opcode::kReduce && op.shape().IsTuple()) return RewriteReduce(op);
    if (!IsPlain(op.shape())) return false;
    switch (op.opcode()) {
      case Opcode::kBroadcast:
        return RewriteBroadcast(op);
      case Opcode::kReshape:
        return Put(op, In(Only(op.shape(), KeepSized(op.shape())), op.operand(0)));
      case Opcode::kTranspose:
        return RewriteTranspose(op);
      case Opcode::kIota:
        return RewriteIota(op);
      case Opcode::kConcatenate:
        return RewriteConcatenate(op);
      case Opcode::kSlice:
      case Opcode::kDynamicSlice:
        return RewriteSlice(op);
      case Opcode::kPad:
        return RewritePad(op);
      case Opcode::kDot:
        return RewriteDot(op);
      case Opcode::kReduce:
        return RewriteReduce(op);
      case Opcode::kGetTupleElement:
        return RewriteElement(op);
      case Opcode::kReduceWindow:
        return RewriteReduceWindow(op);
      case Opcode::kAllReduce:
      case Opcode::kCollectivePermute:
        return op.num_operands() == 1 && RewriteElementwise(op);
      case Opcode::kAllGather:
      case Opcode::kReduceScatter:
        return RewriteCollective(op);
      default:
        return IsElementwise(op.opcode()) && op.opcode() != Opcode::kOptimizationBarrier && op.opcode() != Opcode::kDomain &&
               RewriteElementwise(op);
    }
  }

  bool RewriteElementwise(const Instruction& op) {
    std::vector<Instruction*> operands;
    for (Instruction* x : op.operands()) {
      if (!x->shape().IsScalar() && !x->shape().SameDims(op.shape())) return false;
    }
    for (Instruction* x : op.operands()) operands.push_back(Sized(x));
    return Put(op, Clone(op, Only(op.shape(), KeepSized(op.shape())), operands));
  }

  bool RewriteBroadcast(const Instruction& op) {
    const Kept kept = KeepSized(op.shape());
    Instruction* x = Sized(op.operand(0));
    const Dims dimensions = Renumbered(op.dimensions(), kept);
    const Shape shape = Only(op.shape(), kept);
    if (shape.dims() == x->shape().dims() && std::is_sorted(dimensions.begin(), dimensions.end())) return Put(op, x);
    Instruction* now = Clone(op, shape, {x});
    Assign(dimensions, now->MutableAttrs()->mutable_dimensions());
    return Put(op, now);
  }

  bool RewriteTranspose(const Instruction& op) {
    Instruction* x = Sized(op.operand(0));
    const Dims permutation = Renumbered(op.dimensions(), KeepSized(op.operand(0)->shape()));
    if (std::is_sorted(permutation.begin(), permutation.end())) return Put(op, x);
    Instruction* now = Clone(op, Only(op.shape(), KeepSized(op.shape())), {x});
    Assign(permutation, now->MutableAttrs()->mutable_dimensions());
    return Put(op, now);
  }

  bool RewriteIota(const Instruction& op) {
    const Kept kept = KeepSized(op.shape());
    if (!kept[op.dimension()]) return false;
    Instruction* now = Clone(op, Only(op.shape(), kept), {});
    Assign(Renumbered(op.dimensions(), kept), now->MutableAttrs()->mutable_dimensions());
    return Put(op, now);
  }

  bool RewriteConcatenate(const Instruction& op) {
    Kept kept = KeepSized(op.shape());
    kept[op.dimension()] = true;
    std::vector<Instruction*> operands;
    for (Instruction* x : op.operands()) operands.push_back(With(kept, x));
    Instruction* now = Clone(op, Only(op.shape(), kept), operands);
    Assign(Renumbered(op.dimensions(), kept), now->MutableAttrs()->mutable_dimensions());
    return Put(op, now);
  }

  // Of dimensions that have one element before; what is cut to one element stays a dimension of the slice.
  bool RewriteSlice(const Instruction& op) {
    const Shape& whole = op.operand(0)->shape();
    Kept kept = KeepSized(whole);
    for (int d = 0; d < whole.rank(); ++d) kept[d] = kept[d] || op.shape().dim(d) != 1;
    if (std::find(kept.begin(), kept.end(), false) == kept.end()) return false;
    const bool is_dynamic = op.opcode() == Opcode::kDynamicSlice;
    if (is_dynamic && op.num_operands() != 1 + whole.rank()) return false;
    std::vector<Instruction*> operands = {With(kept, op.operand(0))};
    for (int d = 0; is_dynamic && d < whole.rank(); ++d) {
      if (kept[d]) operands.push_back(Full(op.operand(1 + d)));
    }
    Instruction* now = Clone(op, Only(op.shape(), kept), operands);
    xla::HloInstructionProto* attrs = now->MutableAttrs();
    DropEntries(kept, attrs->mutable_slice_dimensions());
    DropEntries(kept, attrs->mutable_dynamic_slice_sizes());
    return Put(op, now);
  }

  bool RewritePad(const Instruction& op) {
    Kept kept(op.shape().rank());
    for (int d = 0; d < op.shape().rank(); ++d) kept[d] = op.shape().dim(d) != 1 || op.operand(0)->shape().dim(d) != 1;
    if (std::find(kept.begin(), kept.end(), false) == kept.end()) return false;
    Instruction* now = Clone(op, Only(op.shape(), kept), {With(kept, op.operand(0)), Full(op.operand(1))});
    DropEntries(kept, now->MutableAttrs()->mutable_padding_config()->mutable_dimensions());
    return Put(op, now);
  }

  bool RewriteDot(const Instruction& op) {
    if (op.num_operands() != 2) return false;
    const DotView view(op);
    const Kept left = KeepSized(op.operand(0)->shape()), right = KeepSized(op.operand(1)->shape());
    const Dims contracting = Renumbered(view.lhs_contracting(), left);
    if (contracting.empty()) return false;  // An outer product, which is better said as it was.
    const Dims rhs_contracting = Renumbered(view.rhs_contracting(), right);
    const Dims lhs_batch = Renumbered(view.lhs_batch(), left), rhs_batch = Renumbered(view.rhs_batch(), right);
    Instruction* now = Clone(op, Only(op.shape(), KeepSized(op.shape())), {Sized(op.operand(0)), Sized(op.operand(1))});
    xla::DotDimensionNumbers* numbers = now->MutableAttrs()->mutable_dot_dimension_numbers();
    Assign(contracting, numbers->mutable_lhs_contracting_dimensions());
    Assign(rhs_contracting, numbers->mutable_rhs_contracting_dimensions());
    Assign(lhs_batch, numbers->mutable_lhs_batch_dimensions());
    Assign(rhs_batch, numbers->mutable_rhs_batch_dimensions());
    return Put(op, now);
  }

  bool RewriteReduce(const Instruction& op) {
    const int arrays = op.num_operands() / 2;
    const Shape& whole = op.operand(0)->shape();
    const Kept kept = KeepSized(whole);
    const Dims dimensions = Renumbered(op.dimensions(), kept);
    if (dimensions.empty() || (op.shape().IsTuple() && !users_know_[op.index()])) return false;
    std::vector<Instruction*> operands;
    for (int k = 0; k < op.num_operands(); ++k) operands.push_back(k < arrays ? Sized(op.operand(k)) : Full(op.operand(k)));
    Shape shape;
    if (op.shape().IsTuple()) {
      std::vector<Shape> shapes;
      for (const Shape& each : op.shape().tuple_shapes()) {
        if (!IsPlain(each)) return false;
        shapes.push_back(Only(each, KeepSized(each)));
      }
      shape = Shape::Tuple(std::move(shapes));
    } else {
      shape = Only(op.shape(), KeepSized(op.shape()));
    }
    Instruction* now = Clone(op, shape, operands);
    Assign(dimensions, now->MutableAttrs()->mutable_dimensions());
    if (!op.shape().IsTuple()) return Put(op, now);
    forms_[op.index()].is_gone = true;
    ++num_gone_;
    forms_[op.index()].tuple = now;
    return true;
  }

  bool RewriteElement(const Instruction& op) {
    Instruction* tuple = forms_[op.operand(0)->index()].tuple;
    return tuple != nullptr && Put(op, Clone(op, tuple->shape().tuple_shape(op.tuple_index()), {tuple}));
  }

  bool RewriteReduceWindow(const Instruction& op) {
    if (op.num_operands() != 2) return false;
    const Shape& whole = op.operand(0)->shape();
    Kept kept(whole.rank());
    for (int d = 0; d < whole.rank(); ++d) {
      const auto& window = op.attrs().window().dimensions(d);
      kept[d] = whole.dim(d) != 1 || op.shape().dim(d) != 1 || window.size() != 1 || window.padding_low() != 0 ||
                window.padding_high() != 0;
    }
    if (std::find(kept.begin(), kept.end(), false) == kept.end()) return false;
    Instruction* now = Clone(op, Only(op.shape(), kept), {With(kept, op.operand(0)), Full(op.operand(1))});
    DropEntries(kept, now->MutableAttrs()->mutable_window()->mutable_dimensions());
    return Put(op, now);
  }

  // Of one array, along one of its dimensions.
  bool RewriteCollective(const Instruction& op) {
    if (op.num_operands() != 1 || op.dimensions().size() != 1) return false;
    Kept kept = KeepSized(op.shape());
    kept[op.dimension()] = true;
    if (std::find(kept.begin(), kept.end(), false) == kept.end()) return false;
    Instruction* now = Clone(op, Only(op.shape(), kept), {With(kept, op.operand(0))});
    Assign(Renumbered(op.dimensions(), kept), now->MutableAttrs()->mutable_dimensions());
    return Put(op, now);
  }

  Computation* computation_;
  const int n_;
  std::vector<Forms> forms_;      // By index of what there was.
  std::vector<bool> is_tied_;     // It waits for another, or another for it.
  std::vector<bool> users_know_;  // All that uses it takes one element of a tuple.
  std::vector<Instruction*> order_;
  int num_gone_ = 0;
};

}  // namespace

absl::StatusOr<bool> UnitDimensionsPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    if (computation->is_fusion() || computation->root() == nullptr) continue;
    changed |= Rewriter(computation.get()).Run();
  }
  return changed;
}

}  // namespace toroid
