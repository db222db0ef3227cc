#include "hlo/passes/unit_dimensions_pass.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "hlo/passes/squeeze_op.h"

namespace toroid {
namespace {

bool MakesTuple(const Instruction& op) { return op.opcode() == Opcode::kReduce && op.shape().IsTuple(); }

bool HasUnitDims(const Computation& computation) {
  return absl::c_any_of(computation.instructions(), [](const auto& op) {
    return MakesTuple(*op) || absl::c_linear_search(op->shape().dims(), 1);
  });
}

// Rewrites one computation. Original instructions keep their old shapes until the end.
class Rewriter {
 public:
  explicit Rewriter(Computation* computation)
      : computation_(computation),
        n_(computation->size()),
        forms_of_(n_, kNone),
        stays_(n_, false),
        goes_(n_, false) {
    order_.reserve(n_ + n_ / 8);
    forms_.reserve(n_);
  }

  bool Run() {
    FindWhatStays();
    for (int i = 0; i < n_; ++i) {
      Instruction* op = computation_->instruction(i);
      if (!stays_[i] && Rewrite(op)) continue;
      for (int k = 0; k < op->num_operands(); ++k) op->set_operand(k, WithFullDims(op->operand(k)));
      order_.push_back(op);
    }
    if (num_squeezed_ == 0 && num_gone_ == 0) return false;
    computation_->set_root(WithFullDims(computation_->root()));
    for (Forms& forms : forms_) {
      if (forms.is_squeezed && !forms.holder->shape().IsTuple()) {
        forms.holder->mutable_shape() = Shape(forms.holder->shape().element_type(), forms.others[0].dims);
      }
    }
    for (auto& [op, shape] : squeezed_tuples_) op->mutable_shape() = std::move(shape);
    DropWhatGoes();
    return true;
  }

 private:
  static constexpr int32_t kNone = -1;

  // An array that holds the elements of a value in the same order, in other dimensions.
  struct Form {
    Instruction* array;
    Dims dims;
  };
  // The forms of one value. If `holder` is squeezed, others[0] is the holder with its new shape.
  struct Forms {
    Instruction* holder;
    bool is_squeezed = false;
    absl::InlinedVector<Form, 1> others;
  };

  void FindWhatStays() {
    bool makes_tuples = false;
    for (const auto& op : computation_->instructions()) {
      if (op->sharding() != nullptr || !op->control_predecessors().empty()) stays_[op->index()] = true;
      for (const Instruction* before : op->control_predecessors()) stays_[before->index()] = true;
      makes_tuples |= MakesTuple(*op);
    }
    if (!makes_tuples) return;
    // A tuple is squeezed only if all its users can be.
    stays_[computation_->root()->index()] =
        stays_[computation_->root()->index()] || computation_->root()->shape().IsTuple();
    for (const auto& op : computation_->instructions()) {
      const bool takes_one = op->opcode() == Opcode::kGetTupleElement && !stays_[op->index()];
      for (const Instruction* x : op->operands()) {
        if (!takes_one && MakesTuple(*x)) stays_[x->index()] = true;
      }
    }
  }

  // Squeezes the op; returns false and changes nothing if it stays.
  bool Rewrite(Instruction* op) {
    if (op->opcode() == Opcode::kGetTupleElement) {
      const Forms* tuple = FormsOf(op->operand(0));
      if (tuple == nullptr || !tuple->is_squeezed) return false;
      AddSqueezed(op, KeepSized(op->shape()));
      return true;
    }
    const std::optional<SqueezedOp> squeezed = Squeeze(*op);
    if (!squeezed.has_value()) return false;
    if (squeezed->is_operand) {
      AddForms(op->operand(0));
      forms_of_[op->index()] = forms_of_[op->operand(0)->index()];
      goes_[op->index()] = true;
      ++num_gone_;
      return true;
    }
    absl::InlinedVector<Instruction*, 4> operands;
    for (const SqueezedOp::Operand& x : squeezed->operands)
      operands.push_back(WithDims(SqueezedDims(x.value->shape(), x.kept), x.value));
    op->set_operands(operands);
    SqueezeAttributes(*squeezed, op);
    AddSqueezed(op, squeezed->kept);
    return true;
  }

  void AddSqueezed(Instruction* op, const KeptDims& kept) {
    Forms& forms = AddForms(op);
    forms.is_squeezed = true;
    ++num_squeezed_;
    order_.push_back(op);
    if (op->shape().IsTuple()) {
      std::vector<Shape> arrays;
      for (const Shape& array : op->shape().tuple_shapes()) {
        arrays.push_back(Shape(array.element_type(), SqueezedDims(array, kept)));
      }
      squeezed_tuples_.emplace_back(op, Shape::Tuple(std::move(arrays)));
    } else {
      forms.others.push_back({op, SqueezedDims(op->shape(), kept)});
    }
  }

  Forms* FormsOf(const Instruction* x) {
    const int32_t i = forms_of_[x->index()];
    return i == kNone ? nullptr : &forms_[i];
  }
  Forms& AddForms(Instruction* x) {
    int32_t& i = forms_of_[x->index()];
    if (i == kNone) {
      i = static_cast<int32_t>(forms_.size());
      forms_.push_back({x});
    }
    return forms_[i];
  }

  // The value of `x`, an original instruction, as an array with these dimensions.
  Instruction* WithDims(const Dims& dims, Instruction* x) {
    if (FormsOf(x) == nullptr && x->shape().dims() == dims) return x;
    Forms& forms = AddForms(x);
    if (!forms.is_squeezed && forms.holder->shape().dims() == dims) return forms.holder;
    for (const Form& form : forms.others) {
      if (form.dims == dims) return form.array;
    }
    Instruction* from = forms.is_squeezed ? forms.others[0].array : forms.holder;
    Instruction* reshape =
        computation_->Add(Opcode::kReshape, Shape(x->shape().element_type(), dims), {from});
    reshape->set_metadata(x->metadata());
    forms.others.push_back({reshape, dims});
    order_.push_back(reshape);
    return reshape;
  }
  // The value of `x` in its original dimensions.
  Instruction* WithFullDims(Instruction* x) {
    const Forms* forms = FormsOf(x);
    if (forms == nullptr || (forms->holder == x && !forms->is_squeezed)) return x;
    return WithDims(ToDims(x->shape().dims()), x);
  }

  void DropWhatGoes() {
    for (int i = 0; num_gone_ > 0 && i < n_; ++i) {
      if (goes_[i]) order_.push_back(computation_->instruction(i));
    }
    computation_->Reorder(order_);
    std::vector<bool> keep(order_.size(), true);
    std::fill(keep.end() - num_gone_, keep.end(), false);
    computation_->Keep(keep);
  }

  Computation* computation_;
  const int n_;
  std::vector<Forms> forms_;
  // By index of the original instructions:
  std::vector<int32_t> forms_of_;
  std::vector<bool> stays_;  // Is not changed.
  std::vector<bool> goes_;   // Is replaced by its operand.
  int num_squeezed_ = 0, num_gone_ = 0;
  std::vector<std::pair<Instruction*, Shape>> squeezed_tuples_;
  std::vector<Instruction*> order_;
};

}  // namespace

absl::StatusOr<bool> UnitDimensionsPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    if (computation->is_fusion() || computation->root() == nullptr || !HasUnitDims(*computation)) continue;
    changed |= Rewriter(computation.get()).Run();
  }
  return changed;
}

}  // namespace toroid
