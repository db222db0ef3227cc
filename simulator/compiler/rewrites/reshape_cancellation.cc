#include "simulator/compiler/rewrites/reshape_cancellation.h"

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/reshaped_dims.h"

namespace toroid {
namespace {

// Ops between a reduction or reshape and the reshapes that it cancels, at most.
constexpr int kMostSteps = 16;

// What all arrays that `value` is made of elementwise were before they were reshaped to its sizes: one shape, the first of
// which is put into `before`. Vectors that are spread over it are put into `spread`, what is made elementwise into `made`. At
// most `steps` ops.
bool IsMadeOfReshapes(const Instruction& value, int* steps, const Shape** before,
                      std::vector<const Instruction*>* spread, std::vector<const Instruction*>* made) {
  if (IsEverywhereTheSame(value)) return true;
  if (--*steps < 0 || !value.control_predecessors().empty()) return false;
  if (value.opcode() == Opcode::kReshape) {
    const Shape& shape = value.operand(0)->shape();
    if (*before == nullptr) *before = &shape;
    return shape.dims() == (*before)->dims();
  }
  if (value.opcode() == Opcode::kBroadcast) {
    spread->push_back(&value);
    return true;
  }
  made->push_back(&value);
  return IsElementwise(value) && value.opcode() != Opcode::kCopy && value.num_operands() > 0 &&
         absl::c_all_of(value.operands(), [&](const Instruction* operand) {
           return IsMadeOfReshapes(*operand, steps, before, spread, made);
         });
}

// What a vector lies over: of what was reshaped, whole dimensions; after the reshape all that became of these, or some of it.
struct Spread {
  Dims before, after;
  bool is_whole = true;
};
// Nullopt if the vector's dimensions are in another order.
std::optional<Spread> SpreadOver(const Instruction& broadcast, absl::Span<const ReshapedDims> groups) {
  Dims own;
  for (const int64_t d : broadcast.dimensions()) {
    if (broadcast.shape().dim(d) > 1) own.push_back(d);
  }
  if (!absl::c_is_sorted(own)) return std::nullopt;
  Spread spread;
  for (const ReshapedDims& group : groups) {
    const int64_t meets =
        absl::c_count_if(group.after, [&](int64_t d) { return absl::c_linear_search(own, d); });
    if (meets == 0) continue;
    spread.is_whole &= meets == static_cast<int64_t>(group.after.size());
    spread.before.insert(spread.before.end(), group.before.begin(), group.before.end());
    spread.after.insert(spread.after.end(), group.after.begin(), group.after.end());
  }
  return spread;
}

class Unreshaped {
 public:
  Unreshaped(absl::Span<const int64_t> dims, absl::Span<const ReshapedDims> groups, Computation* computation)
      : dims_(dims), groups_(groups), computation_(computation) {}

  Instruction* Of(Instruction* value) {
    if (value->shape().rank() == 0) return value;
    if (value->opcode() == Opcode::kReshape) return value->operand(0);
    const Shape shape(value->shape().element_type(), dims_);
    if (value->opcode() == Opcode::kBroadcast) return SpreadAgain(value, shape);
    std::vector<Instruction*> operands;
    for (Instruction* operand : value->operands()) operands.push_back(Of(operand));
    return computation_->AddClone(*value, shape, operands);
  }

 private:
  Instruction* SpreadAgain(Instruction* broadcast, const Shape& shape) {
    Instruction* vector = broadcast->operand(0);
    const Spread over = *SpreadOver(*broadcast, groups_);
    if (!over.is_whole) vector = OverWhole(broadcast, over.after);
    Dims sizes;
    for (const int64_t d : over.before) sizes.push_back(dims_[d]);
    if (vector->shape().dims() != absl::MakeConstSpan(sizes)) {
      vector = computation_->Add(Opcode::kReshape, Shape(vector->shape().element_type(), sizes), {vector});
      vector->set_metadata(broadcast->metadata());
    }
    if (sizes.size() == dims_.size()) return vector;
    return Broadcast(broadcast, shape, vector, over.before);
  }

  // The vector over all of `dims`, of which it lies over some.
  Instruction* OverWhole(Instruction* broadcast, const Dims& dims) {
    Dims sizes, places;
    for (const int64_t d : dims) sizes.push_back(broadcast->shape().dim(d));
    Instruction* vector = broadcast->operand(0);
    Dims sized;  // Of the vector, without dimensions of one element.
    for (size_t k = 0; k < broadcast->dimensions().size(); ++k) {
      const int64_t d = broadcast->dimensions()[k];
      if (broadcast->shape().dim(d) == 1) continue;
      sized.push_back(broadcast->shape().dim(d));
      places.push_back(absl::c_find(dims, d) - dims.begin());
    }
    if (vector->shape().dims() != absl::MakeConstSpan(sized)) {
      vector = computation_->Add(Opcode::kReshape, Shape(vector->shape().element_type(), sized), {vector});
    }
    return Broadcast(broadcast, Shape(vector->shape().element_type(), sizes), vector, places);
  }

  Instruction* Broadcast(const Instruction* like, const Shape& shape, Instruction* vector, const Dims& dims) {
    Instruction* spread = computation_->AddClone(*like, shape, {vector});
    xla::HloInstructionProto* attrs = spread->MutableAttrs();
    attrs->clear_dimensions();
    for (const int64_t d : dims) attrs->add_dimensions(d);
    return spread;
  }

  const absl::Span<const int64_t> dims_;
  const absl::Span<const ReshapedDims> groups_;
  Computation* const computation_;
};

}  // namespace

Instruction* ReductionBeforeReshape(const Instruction& reduce, Computation* computation) {
  Instruction* made = reduce.operand(0);
  const Shape* before = nullptr;
  std::vector<const Instruction*> spread, ops;
  int steps = kMostSteps;
  if (made->shape().NumElements() == 0 || !IsMadeOfReshapes(*made, &steps, &before, &spread, &ops) ||
      before == nullptr)
    return nullptr;
  if (SameButUnitDims(*before, made->shape())) return nullptr;
  const std::vector<ReshapedDims> groups = DimsThroughReshape(*before, made->shape());
  const auto lies_over_whole = [&](const Instruction* broadcast) {
    const std::optional<Spread> over = SpreadOver(*broadcast, groups);
    return over.has_value() && over->is_whole;
  };
  if (!absl::c_all_of(spread, lies_over_whole)) return nullptr;
  // What is summed up, and what is left.
  Dims summed, left;
  for (const ReshapedDims& group : groups) {
    const int64_t sums = absl::c_count_if(
        group.after, [&](int64_t d) { return absl::c_linear_search(reduce.dimensions(), d); });
    if (sums != 0 && sums != static_cast<int64_t>(group.after.size())) return nullptr;
    Dims& dims = sums != 0 ? summed : left;
    dims.insert(dims.end(), group.before.begin(), group.before.end());
  }
  const Dims dims(before->dims().begin(), before->dims().end());
  Dims sizes;
  for (int64_t d = 0; d < before->rank(); ++d) {
    if (absl::c_linear_search(left, d)) sizes.push_back(dims[d]);
  }
  Instruction* sum =
      computation->AddClone(reduce, Shape(reduce.shape().element_type(), sizes),
                            {Unreshaped(dims, groups, computation).Of(made), reduce.operand(1)});
  xla::HloInstructionProto* attrs = sum->MutableAttrs();
  attrs->clear_dimensions();
  for (int64_t d = 0; d < before->rank(); ++d) {
    if (!absl::c_linear_search(left, d)) attrs->add_dimensions(d);
  }
  if (reduce.shape().dims() == absl::MakeConstSpan(sizes)) return sum;
  Instruction* result = computation->Add(Opcode::kReshape, reduce.shape(), {sum});
  result->set_metadata(reduce.metadata());
  return result;
}

Instruction* MadeBeforeReshape(const Instruction& reshape,
                               absl::FunctionRef<bool(const Instruction&)> is_read_once,
                               Computation* computation) {
  Instruction* value = reshape.operand(0);
  if (!IsElementwise(*value) || value->shape().NumElements() == 0 ||
      SameButUnitDims(value->shape(), reshape.shape()))
    return nullptr;
  const Shape* before = nullptr;
  std::vector<const Instruction*> spread, ops;
  int steps = kMostSteps;
  if (!IsMadeOfReshapes(*value, &steps, &before, &spread, &ops) || before == nullptr) return nullptr;
  if (before->dims() != reshape.shape().dims()) return nullptr;
  if (!absl::c_all_of(ops, [&](const Instruction* op) { return is_read_once(*op); })) return nullptr;
  const std::vector<ReshapedDims> groups = DimsThroughReshape(*before, value->shape());
  if (!absl::c_all_of(
          spread, [&](const Instruction* broadcast) { return SpreadOver(*broadcast, groups).has_value(); }))
    return nullptr;
  const Dims dims(before->dims().begin(), before->dims().end());
  return Unreshaped(dims, groups, computation).Of(value);
}

}  // namespace toroid
