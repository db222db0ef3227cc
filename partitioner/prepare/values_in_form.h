// Rewriting a computation on values in another form: what its ops can be computed on instead of the values themselves.
//
// Example: y = reshape(x) merges two dimensions. The form of y is x; that of negate(y) is negate(x); who cannot work on a form
// reads the value, which is made of it.
#ifndef TOROID_PARTITIONER_PREPARE_VALUES_IN_FORM_H_
#define TOROID_PARTITIONER_PREPARE_VALUES_IN_FORM_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "partitioner/prepare/given_shardings.h"

namespace toroid {

// One computation. `Form`: what says how a value is made of the array that stands for it.
template <typename Form>
class ValuesInForm {
 public:
  struct InForm {
    Form form;
    Instruction* array;
  };
  using Result = std::optional<InForm>;

  // A replacement of an instruction in `given`, if that is not null, takes its place in the set.
  ValuesInForm(Computation* computation, GivenShardings* given)
      : computation_(computation),
        given_(given),
        b_(computation),
        values_(computation->size()),
        now_(computation->size()) {}
  virtual ~ValuesInForm() = default;

  // Whether something changed. What is not used any more is left for the elimination of dead code.
  absl::StatusOr<bool> Run() {
    bool changed = false;
    for (size_t i = 0; i < now_.size(); ++i) {
      Instruction* op = computation_->instruction(static_cast<int>(i));
      b_.set_metadata(op->metadata());
      Result value = Find(*op);
      if (!value) continue;
      changed = true;
      // An instruction that there was may have been replaced itself.
      const size_t array = value->array->index();
      if (array < now_.size() && now_[array] != nullptr) value->array = now_[array];
      if (IsStated(*op)) {
        // Who reads it does so where it was stated to lie.
        now_[i] = b_.Op(Opcode::kReshape, op->shape(), {Restored(*value, op->shape())});
        now_[i]->set_sharding(op->sharding());
        now_[i]->set_frontend_attributes(op->frontend_attributes());
        if (given_ != nullptr && given_->erase(op) > 0) given_->insert(now_[i]);
        continue;
      }
      now_[i] = Restored(*value, op->shape());
      if (now_[i] != value->array) values_[i] = std::move(value);
    }
    RETURN_IF_ERROR(b_.status());
    if (changed) RETURN_IF_ERROR(ReplaceAndDrop(computation_, now_));
    return changed;
  }

 protected:
  static bool IsStated(const Instruction& op) {
    return op.sharding() != nullptr || op.FrontendAttribute("xla.sdy.sharding") != nullptr;
  }

  // Most nested broadcasts that are looked through: each reader looks again.
  static constexpr int kMostBroadcasts = 8;

  // The op on the forms of its operands; null if none has one, or if it cannot work on them. Its shapes are plain.
  virtual Result Make(const Instruction& op) = 0;
  // The value, of this shape; the array itself if it is the value.
  virtual Instruction* Restored(const InForm& value, const Shape& shape) = 0;

  // Null: it has no other form.
  const Result& ValueOf(const Instruction& x) const { return values_[x.index()]; }
  // The form of the first operand that has one.
  Form FirstForm(const Instruction& op) const {
    const absl::Span<Instruction* const> operands = op.operands();
    return ValueOf(**absl::c_find_if(operands, [&](const Instruction* x) { return ValueOf(*x).has_value(); }))
        ->form;
  }
  bool AnyHasForm(const Instruction& op) const {
    return absl::c_any_of(op.operands(), [&](const Instruction* x) { return ValueOf(*x).has_value(); });
  }
  InstructionBuilder& b() { return b_; }

 private:
  static bool IsPlain(const Shape& shape) {
    return shape.IsArray() && !shape.IsDynamic() && !shape.IsBuffer() && shape.custom_layout() == nullptr;
  }

  Result Find(const Instruction& op) {
    if (!IsPlain(op.shape()) || !op.control_predecessors().empty()) return std::nullopt;
    // An element of a tuple that this pass makes.
    if (op.opcode() == Opcode::kGetTupleElement && op.operand(0)->opcode() == Opcode::kTuple) {
      return ValueOf(*op.operand(0)->operand(op.tuple_index()));
    }
    if (!absl::c_all_of(op.operands(), [](const Instruction* x) { return IsPlain(x->shape()); }))
      return std::nullopt;
    return Make(op);
  }

  Computation* computation_;
  GivenShardings* given_;
  InstructionBuilder b_;
  // By index of the instructions that there were:
  std::vector<Result> values_;
  std::vector<Instruction*> now_;
};

// Rewrites each computation of a module by a kind of ValuesInForm. Whether something changed.
template <typename Rewriter>
absl::StatusOr<bool> RewriteInForm(Module* module, GivenShardings* given) {
  bool changed = false;
  for (const auto& computation : module->computations()) {
    if (computation->is_fusion() || computation->root() == nullptr) continue;
    ASSIGN_OR_RETURN(const bool here, Rewriter(computation.get(), given).Run());
    changed |= here;
  }
  return changed;
}

// By dimension of a product's result, what its operands have there: batch dimensions, those of lhs alone, those of rhs alone.
template <typename PerDim>
PerDim OfProduct(const DotView& dot, const PerDim& lhs, const PerDim& rhs) {
  PerDim result;
  for (const int64_t d : dot.lhs_batch()) result.push_back(lhs[d]);
  const auto add_free = [&](const PerDim& of, absl::Span<const int64_t> batch,
                            absl::Span<const int64_t> contracting) {
    for (int64_t d = 0; d < static_cast<int64_t>(of.size()); ++d) {
      if (!absl::c_linear_search(batch, d) && !absl::c_linear_search(contracting, d)) result.push_back(of[d]);
    }
  };
  add_free(lhs, dot.lhs_batch(), dot.lhs_contracting());
  add_free(rhs, dot.rhs_batch(), dot.rhs_contracting());
  return result;
}

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_VALUES_IN_FORM_H_
