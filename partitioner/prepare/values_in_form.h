// Base class of passes that compute on a surrogate array in place of a value. A "form" says how the value is
// rebuilt from the array. An op that cannot use its operand's surrogate gets the rebuilt value.
//
// Example: y = reshape(x) merges two dimensions. The array x stands for y, and negate(x) for negate(y); the
// form is the list of merged dimensions. A sort of y reads reshape(x).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {

// Rewrites one computation. `Form`: the description by which a value is rebuilt from the array that stands
// for it.
template <typename Form>
class ValuesInForm {
 public:
  struct InForm {
    Form form;
    Instruction* array;
  };
  using Result = std::optional<InForm>;

  explicit ValuesInForm(Computation* computation)
      : computation_(computation), b_(computation), values_(computation->size()), now_(computation->size()) {}
  virtual ~ValuesInForm() = default;

  // Returns whether something changed. Leaves dead instructions behind for DcePass.
  absl::StatusOr<bool> Run() {
    bool changed = false;
    for (size_t i = 0; i < now_.size(); ++i) {
      Instruction* op = computation_->instruction(static_cast<int>(i));
      b_.set_metadata(op->metadata());
      Result value = Find(*op);
      if (!value) continue;
      changed = true;
      // The array may be an instruction of the old computation that was itself replaced.
      const size_t array = value->array->index();
      if (array < now_.size() && now_[array] != nullptr) value->array = now_[array];
      if (IsStated(*op)) {
        // Users must see the stated sharding, so they read the rebuilt value, which carries it. The reshape
        // changes no shape; it holds the annotation.
        now_[i] = b_.Op(Opcode::kReshape, op->shape(), {Restored(*value, op->shape())});
        now_[i]->TakeSharding(*op);
        now_[i]->set_frontend_attributes(op->frontend_attributes());
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

  // Depth of nested broadcasts at which a walk through them stops, since each user of the outermost walks
  // again.
  static constexpr int kMostBroadcasts = 8;

  // Emits `op` on the arrays that stand for its operands, or starts a new form. nullopt if it does
  // neither. All shapes are plain (IsPlain).
  virtual Result Make(const Instruction& op) = 0;
  // Rebuilds the value, of this shape, from its array. Returns the array itself if it is the value.
  virtual Instruction* Restored(const InForm& value, const Shape& shape) = 0;

  // The form and array of an instruction's value; nullopt if the value is computed as in the original
  // program.
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
    // An element of a tuple instruction has the form of that operand.
    if (op.opcode() == Opcode::kGetTupleElement && op.operand(0)->opcode() == Opcode::kTuple) {
      return ValueOf(*op.operand(0)->operand(op.tuple_index()));
    }
    if (!absl::c_all_of(op.operands(), [](const Instruction* x) { return IsPlain(x->shape()); }))
      return std::nullopt;
    return Make(op);
  }

  Computation* computation_;
  InstructionBuilder b_;
  // By index of the original instructions: the value in its form, and the instruction that replaces the
  // original one.
  std::vector<Result> values_;
  std::vector<Instruction*> now_;
};

// Runs a subclass of ValuesInForm on each computation of a module. Returns whether something changed.
template <typename Rewriter>
absl::StatusOr<bool> RewriteInForm(Module* module) {
  bool changed = false;
  for (const auto& computation : module->computations()) {
    if (computation->is_fusion() || computation->root() == nullptr) continue;
    ASSIGN_OR_RETURN(const bool here, Rewriter(computation.get()).Run());
    changed |= here;
  }
  return changed;
}

// Maps per-dimension data of a dot's operands to the dimensions of its result: batch dimensions first (from
// lhs), then the free dimensions of lhs, then those of rhs.
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
