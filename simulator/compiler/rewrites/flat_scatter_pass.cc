#include "simulator/compiler/rewrites/flat_scatter_pass.h"

#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/replace_instructions.h"
#include "simulator/program/elementwise.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && !shape.IsDynamic(); }

// Each update is one element, and each dimension of the operand has an index or is counted.
bool WritesSingleElements(const Instruction& op) {
  if (op.opcode() != Opcode::kScatter || op.num_operands() != 3 || op.called().empty()) return false;
  if (!absl::c_all_of(op.operands(),
                      [](const Instruction* operand) { return IsStaticArray(operand->shape()); }))
    return false;
  const ScatterView view(op);
  const size_t rank = op.shape().rank();
  return rank > 0 && view.update_window_dims().empty() && op.shape().NumElements() > 0 &&
         op.operand(2)->shape().NumElements() > 0 &&
         op.shape().NumElements() <= std::numeric_limits<int32_t>::max() &&
         view.scatter_dims_to_operand_dims().size() + view.operand_batching_dims().size() == rank;
}

class FlatScatter {
 public:
  FlatScatter(Instruction* scatter, const Tiling& tiling)
      : scatter_(scatter), view_(*scatter), tiling_(tiling), builder_(scatter->computation()) {
    builder_.set_metadata(scatter->metadata());
  }

  absl::StatusOr<Instruction*> Build() {
    Instruction* x = scatter_->operand(0);
    const int64_t rank = x->shape().rank();
    // Major to minor.
    Dims order = LeastPaddingOrder(x->shape(), tiling_);
    absl::c_reverse(order);
    Dims back(rank), strides(rank);
    int64_t stride = 1;
    for (int64_t i = rank - 1; i >= 0; --i) {
      back[order[i]] = i;
      strides[order[i]] = stride;
      stride *= x->shape().dim(order[i]);
    }
    Instruction* ordered = builder_.Transpose(x, order);
    xla::ScatterDimensionNumbers numbers;
    numbers.add_inserted_window_dims(0);
    numbers.add_scatter_dims_to_operand_dims(0);
    numbers.set_index_vector_dim(1);
    // One after the other: what is padded is there for a time only.
    Instruction* places = AsVector(Index(strides));
    Instruction* updates = AsVector(scatter_->operand(2));
    Instruction* flat = builder_.Scatter(AsVector(ordered), places, updates, numbers, scatter_->called(0));
    Instruction* result = builder_.Transpose(builder_.Reshape(flat, ordered->shape().dims()), back);
    RETURN_IF_ERROR(builder_.status());
    return result;
  }

 private:
  Instruction* AsVector(Instruction* value) {
    const Dims elements = {value->shape().NumElements()};
    return IsEverywhereTheSame(*value) && value->shape().rank() > 0
               ? builder_.Broadcast(value->operand(0), elements)
               : builder_.Reshape(value, elements);
  }

  // As many numbers along `dimension` of the shape, spread over it.
  Instruction* Spread(const std::vector<int32_t>& values, const Shape& shape, int64_t dimension) {
    const Dims sizes = {static_cast<int64_t>(values.size())};
    Instruction* numbers = builder_.Constant(Literal::Array<int32_t>(sizes, values));
    return builder_.Broadcast(builder_.Convert(numbers, shape.element_type()), shape.dims(), {dimension});
  }

  // One place in the vector for each update, -1 for those outside of the operand, which has these strides.
  Instruction* Index(const Dims& strides) {
    Instruction* indices = scatter_->operand(1);
    if (ByteWidth(indices->shape().element_type()) < 4) indices = builder_.Convert(indices, xla::S32);
    const PrimitiveType type = indices->shape().element_type();
    int64_t vector = view_.index_vector_dim();
    Dims dims(indices->shape().dims().begin(), indices->shape().dims().end());
    if (vector == indices->shape().rank()) {
      dims.push_back(1);
      indices = builder_.Reshape(indices, dims);
    }
    // Dimensions that are shared, then those that are indexed.
    std::vector<Instruction*> parts;
    std::vector<int32_t> sizes, steps;
    const auto add = [&](int64_t of_operand) {
      sizes.push_back(static_cast<int32_t>(scatter_->shape().dim(of_operand)));
      steps.push_back(static_cast<int32_t>(strides[of_operand]));
    };
    Dims single = dims;
    single[vector] = 1;
    for (size_t k = 0; k < view_.operand_batching_dims().size(); ++k) {
      parts.push_back(builder_.Iota(type, single, view_.indices_batching_dims()[k]));
      add(view_.operand_batching_dims()[k]);
    }
    parts.push_back(indices);
    for (const int64_t d : view_.scatter_dims_to_operand_dims()) add(d);
    Instruction* all = builder_.Concatenate(parts, vector);
    Dims places = dims;
    places.erase(places.begin() + vector);
    if (sizes.size() == 1) return builder_.Reshape(indices, places);  // Those of a vector already.
    const Shape& shape = all->shape();
    Instruction* inside = builder_.And(builder_.Compare(builder_.Zeros(type, shape.dims()), all, "LE"),
                                       builder_.Compare(Spread(sizes, shape, vector), all, "GT"));
    Instruction* is_inside = builder_.Reduce(Opcode::kAnd, inside, {vector});
    Instruction* products = builder_.Multiply(all, Spread(steps, shape, vector));
    Instruction* place = builder_.Convert(builder_.Sum(products, {vector}), xla::S32);
    return builder_.Select(is_inside, place, builder_.FullLike(place, -1));
  }

  Instruction* scatter_;
  const ScatterView view_;
  const Tiling tiling_;
  InstructionBuilder builder_;
};

}  // namespace

absl::StatusOr<bool> FlatScatterPass::Run(std::unique_ptr<Module>* module) {
  const auto flatten = [&](Instruction* op) -> absl::StatusOr<Instruction*> {
    if (!WritesSingleElements(*op)) return nullptr;
    const Shape& updates = op->operand(2)->shape();
    if (op->shape().rank() == 1 ? updates.rank() < 2
                                : updates.NumElements() < tiling_.sublanes * tiling_.lanes)
      return nullptr;
    ASSIGN_OR_RETURN(Instruction * flat, FlatScatter(op, tiling_).Build());
    return Marked(Rule::kScatteredElements, flat);
  };
  if (!IsOn(Rule::kScatteredElements)) return false;
  ASSIGN_OR_RETURN(const bool changed, ReplaceEach(module->get(), flatten));
  // Sums' computations stand before those that call them.
  if (changed) (*module)->RemoveUnreachableComputations();
  return changed;
}

}  // namespace toroid
