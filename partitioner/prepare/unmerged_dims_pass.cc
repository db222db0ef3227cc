// Computes on arrays whose dimensions a reshape merges as if they were not merged.
//
//   y = reshape(x), [.., a, b] to [.., a b];  f(y, broadcast(m))  =>  f(x, broadcast(m))
//   reduce(y, the merged dimension)                               =>  reduce(x, both dimensions)
//   dot(y, w) that contracts the merged dimension                 =>  dot(x, reshape(w)), over both
//   reshape(f(y)) back to [.., a, b]                              =>  f(x)
//
// An op that needs the merged dimension reads the reshape. A cut along b is no cut of the merged dimension,
// so that merging gathers x. Elementwise ops, sums and contractions do not depend on the order of elements,
// so they need not merge.
// Example: group norm of f32[2,12,64,8], columns cut over 8 devices, takes means over its reshape
// f32[2,768,2,4]. After the pass only partial sums of 4 values are reduced. Without it 32 kB are gathered,
// and every device computes all that follows.
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/prepare/dim_parts.h"
#include "partitioner/prepare/prepare_passes.h"
#include "partitioner/prepare/values_in_form.h"

namespace toroid {
namespace {

// The form of a value is the parts of its dimensions. The array that stands for it has one dimension per
// part.
class Unmerger : public ValuesInForm<DimParts> {
 public:
  using ValuesInForm::ValuesInForm;

 private:
  DimParts PartsOf(const Instruction& x) const {
    return ValueOf(x) ? ValueOf(x)->form : InOnePart(x.shape().dims());
  }

  Instruction* Restored(const InForm& value, const Shape& shape) override {
    return b().Reshape(value.array, shape.dims());
  }

  // The value of x as an array with one dimension for each of `parts`.
  Instruction* InParts(const DimParts& parts, Instruction* x, int broadcasts = kMostBroadcasts) {
    const Dims dims = UnmergedDims(parts);
    if (x->shape().dims() == absl::MakeConstSpan(dims)) return x;
    const Result& value = ValueOf(*x);
    if (value) return b().Reshape(value->array, dims);
    if (x->opcode() == Opcode::kReshape && !IsStated(*x)) return b().Reshape(x->operand(0), dims);
    if (x->opcode() != Opcode::kBroadcast || IsStated(*x) || broadcasts == 0) return b().Reshape(x, dims);
    DimParts of_operand;
    for (const int64_t d : x->dimensions()) of_operand.push_back(parts[d]);
    return b().Broadcast(InParts(of_operand, x->operand(0), broadcasts - 1), dims,
                         PlacesOfParts(parts, x->dimensions()));
  }

  Result Make(const Instruction& op) override {
    if (op.opcode() == Opcode::kReshape) return MakeReshape(op);
    if (!AnyHasForm(op)) return std::nullopt;
    switch (op.opcode()) {
      case Opcode::kBroadcast:
        return MakeBroadcast(op);
      case Opcode::kTranspose:
        return MakeTranspose(op);
      case Opcode::kReduce:
        return MakeReduce(op);
      case Opcode::kDot:
        return MakeDot(op);
      case Opcode::kSlice:
        return MakeSlice(op);
      case Opcode::kConcatenate:
        return MakeConcatenate(op);
      default:
        return IsElementwise(op.opcode()) ? MakeElementwise(op) : std::nullopt;
    }
  }

  Result MakeReshape(const Instruction& op) {
    Instruction* x = op.operand(0);
    const Result& value = ValueOf(*x);
    Instruction* array = value ? value->array : x;
    std::optional<DimParts> parts = PartsOfReshape(array->shape().dims(), op.shape().dims());
    if (!parts || (!value && !AreMerged(*parts))) return std::nullopt;
    return InForm{*parts, b().Reshape(array, UnmergedDims(*parts))};
  }

  Result MakeElementwise(const Instruction& op) {
    for (const Instruction* x : op.operands()) {
      if (!x->shape().IsScalar() && !x->shape().SameDims(op.shape())) return std::nullopt;
    }
    const DimParts parts = FirstForm(op);
    std::vector<Instruction*> operands;
    for (Instruction* x : op.operands()) operands.push_back(x->shape().IsScalar() ? x : InParts(parts, x));
    return InForm{parts, b().Clone(op, Shape(op.shape().element_type(), UnmergedDims(parts)), operands)};
  }

  Result MakeBroadcast(const Instruction& op) {
    const InForm& x = *ValueOf(*op.operand(0));
    DimParts parts = InOnePart(op.shape().dims());
    for (size_t k = 0; k < x.form.size(); ++k) parts[op.dimensions()[k]] = x.form[k];
    return InForm{parts, b().Broadcast(x.array, UnmergedDims(parts), PlacesOfParts(parts, op.dimensions()))};
  }

  Result MakeTranspose(const Instruction& op) {
    const InForm& x = *ValueOf(*op.operand(0));
    DimParts parts;
    for (const int64_t d : op.dimensions()) parts.push_back(x.form[d]);
    return InForm{parts, b().Transpose(x.array, PlacesOfParts(x.form, op.dimensions()))};
  }

  Result MakeReduce(const Instruction& op) {
    if (op.num_operands() != 2 || !ValueOf(*op.operand(0))) return std::nullopt;
    const InForm& x = *ValueOf(*op.operand(0));
    DimParts parts;
    for (int64_t d = 0; d < static_cast<int64_t>(x.form.size()); ++d) {
      if (!absl::c_linear_search(op.dimensions(), d)) parts.push_back(x.form[d]);
    }
    return InForm{parts, b().Op(Opcode::kReduce, Shape(op.shape().element_type(), UnmergedDims(parts)),
                                {x.array, op.operand(1)},
                                b().WithDimensions(PlacesOfParts(x.form, op.dimensions())), {op.called(0)})};
  }

  Result MakeDot(const Instruction& op) {
    if (op.num_operands() != 2) return std::nullopt;
    const DotView dot(op);
    DimParts lhs = PartsOf(*op.operand(0)), rhs = PartsOf(*op.operand(1));
    // Both operands get a batch or contracting dimension in the same parts: those of lhs if it has several,
    // else of rhs.
    const auto agree = [&](absl::Span<const int64_t> of_lhs, absl::Span<const int64_t> of_rhs) {
      for (size_t k = 0; k < of_lhs.size(); ++k) {
        Dims &a = lhs[of_lhs[k]], &b = rhs[of_rhs[k]];
        (a.size() > 1 ? b : a) = Dims(a.size() > 1 ? a : b);
      }
    };
    agree(dot.lhs_batch(), dot.rhs_batch());
    agree(dot.lhs_contracting(), dot.rhs_contracting());
    const DimParts parts = OfProduct(dot, lhs, rhs);
    Instruction* made = b().Clone(op, Shape(op.shape().element_type(), UnmergedDims(parts)),
                                  {InParts(lhs, op.operand(0)), InParts(rhs, op.operand(1))});
    auto* numbers = made->MutableAttrs()->mutable_dot_dimension_numbers();
    const auto set = [](const DimParts& of, absl::Span<const int64_t> dims, auto* numbers) {
      const Dims places = PlacesOfParts(of, dims);
      numbers->Assign(places.begin(), places.end());
    };
    set(lhs, dot.lhs_batch(), numbers->mutable_lhs_batch_dimensions());
    set(rhs, dot.rhs_batch(), numbers->mutable_rhs_batch_dimensions());
    set(lhs, dot.lhs_contracting(), numbers->mutable_lhs_contracting_dimensions());
    set(rhs, dot.rhs_contracting(), numbers->mutable_rhs_contracting_dimensions());
    return InForm{parts, made};
  }

  // Only if all sliced dimensions have one part.
  Result MakeSlice(const Instruction& op) {
    const InForm& x = *ValueOf(*op.operand(0));
    DimParts parts = x.form;
    Dims starts, limits, strides;
    for (int d = 0; d < op.shape().rank(); ++d) {
      const SliceBounds bounds = SliceView(op)[d];
      if (parts[d].size() > 1 && op.shape().dim(d) != op.operand(0)->shape().dim(d)) return std::nullopt;
      if (parts[d].size() == 1) parts[d][0] = op.shape().dim(d);
      for (const int64_t part : parts[d]) {
        const bool is_cut = parts[d].size() == 1;
        starts.push_back(is_cut ? bounds.start : 0);
        limits.push_back(is_cut ? bounds.limit : part);
        strides.push_back(is_cut ? bounds.stride : 1);
      }
    }
    return InForm{parts, b().Slice(x.array, starts, limits, strides)};
  }

  Result MakeConcatenate(const Instruction& op) {
    DimParts parts = FirstForm(op);
    const int64_t along = op.dimension();
    if (parts[along].size() > 1) return std::nullopt;
    std::vector<Instruction*> operands;
    for (Instruction* x : op.operands()) {
      parts[along] = {x->shape().dim(along)};
      operands.push_back(InParts(parts, x));
    }
    parts[along] = {op.shape().dim(along)};
    return InForm{parts, b().Concatenate(operands, PlacesOfParts(parts, {along})[0])};
  }
};

}  // namespace

absl::StatusOr<bool> UnmergedDimsPass::Run(std::unique_ptr<Module>* module) {
  return RewriteInForm<Unmerger>(module->get());
}

}  // namespace toroid
