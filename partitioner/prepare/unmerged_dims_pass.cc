#include "partitioner/prepare/unmerged_dims_pass.h"

#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "hlo/base/status.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/instruction_builder.h"
#include "hlo/ir/replace_instructions.h"
#include "partitioner/prepare/dim_parts.h"

namespace toroid {
namespace {

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && !shape.IsDynamic() && !shape.IsBuffer() && shape.custom_layout() == nullptr;
}

bool IsStated(const Instruction& op) {
  return op.sharding() != nullptr || op.FrontendAttribute("xla.sdy.sharding") != nullptr;
}

// One computation.
class Unmerger {
 public:
  Unmerger(Computation* computation, GivenShardings* given)
      : computation_(computation), given_(given), b_(computation), values_(computation->size()), now_(computation->size()) {}

  absl::StatusOr<bool> Run() {
    bool changed = false;
    for (size_t i = 0; i < now_.size(); ++i) {
      Instruction* op = computation_->instruction(static_cast<int>(i));
      b_.set_metadata(op->metadata());
      Result value = Make(*op);
      if (!value) continue;
      changed = true;
      if (IsStated(*op)) {
        // Who reads it does so where it was stated to lie.
        now_[i] = b_.Op(Opcode::kReshape, op->shape(), {value->array});
        now_[i]->set_sharding(op->sharding());
        now_[i]->set_frontend_attributes(op->frontend_attributes());
        if (given_ != nullptr && given_->erase(op) > 0) given_->insert(now_[i]);
        continue;
      }
      now_[i] = b_.Reshape(value->array, op->shape().dims());
      if (AreMerged(value->parts)) values_[i] = std::move(value);
    }
    RETURN_IF_ERROR(b_.status());
    if (changed) RETURN_IF_ERROR(ReplaceAndDrop(computation_, now_));
    return changed;
  }

 private:
  // A value of the computation as an array with a dimension for each part.
  struct Unmerged {
    DimParts parts;
    Instruction* array;
  };
  using Result = std::optional<Unmerged>;

  const Result& ValueOf(const Instruction& x) const { return values_[x.index()]; }
  DimParts PartsOf(const Instruction& x) const { return ValueOf(x) ? ValueOf(x)->parts : InOnePart(x.shape().dims()); }

  // A value in these parts, whatever it is in.
  Instruction* In(const DimParts& parts, Instruction* x) {
    const Dims dims = UnmergedDims(parts);
    if (x->shape().dims() == absl::MakeConstSpan(dims)) return x;
    const Result& value = ValueOf(*x);
    if (value) return b_.Reshape(value->array, dims);
    if (x->opcode() == Opcode::kReshape && !IsStated(*x)) return b_.Reshape(x->operand(0), dims);
    if (x->opcode() != Opcode::kBroadcast || IsStated(*x)) return b_.Reshape(x, dims);
    DimParts of_operand;
    for (const int64_t d : x->dimensions()) of_operand.push_back(parts[d]);
    return b_.Broadcast(In(of_operand, x->operand(0)), dims, PlacesOfParts(parts, x->dimensions()));
  }

  // The op on what its operands are merged from; null if none is, or if it cannot work on that.
  Result Make(const Instruction& op) {
    if (!IsPlain(op.shape()) || !op.control_predecessors().empty()) return std::nullopt;
    // Of a tuple that is made here.
    if (op.opcode() == Opcode::kGetTupleElement && op.operand(0)->opcode() == Opcode::kTuple) {
      return ValueOf(*op.operand(0)->operand(op.tuple_index()));
    }
    if (!absl::c_all_of(op.operands(), [](const Instruction* x) { return IsPlain(x->shape()); })) return std::nullopt;
    if (op.opcode() == Opcode::kReshape) return MakeReshape(op);
    if (absl::c_none_of(op.operands(), [&](const Instruction* x) { return ValueOf(*x).has_value(); })) return std::nullopt;
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
    return Unmerged{*parts, b_.Reshape(array, UnmergedDims(*parts))};
  }

  Result MakeElementwise(const Instruction& op) {
    DimParts parts;
    for (const Instruction* x : op.operands()) {
      if (!x->shape().IsScalar() && !x->shape().SameDims(op.shape())) return std::nullopt;
      if (parts.empty() && ValueOf(*x)) parts = ValueOf(*x)->parts;
    }
    std::vector<Instruction*> operands;
    for (Instruction* x : op.operands()) operands.push_back(x->shape().IsScalar() ? x : In(parts, x));
    return Unmerged{parts, b_.Clone(op, Shape(op.shape().element_type(), UnmergedDims(parts)), operands)};
  }

  Result MakeBroadcast(const Instruction& op) {
    const Unmerged& x = *ValueOf(*op.operand(0));
    DimParts parts = InOnePart(op.shape().dims());
    for (size_t k = 0; k < x.parts.size(); ++k) parts[op.dimensions()[k]] = x.parts[k];
    return Unmerged{parts, b_.Broadcast(x.array, UnmergedDims(parts), PlacesOfParts(parts, op.dimensions()))};
  }

  Result MakeTranspose(const Instruction& op) {
    const Unmerged& x = *ValueOf(*op.operand(0));
    DimParts parts;
    for (const int64_t d : op.dimensions()) parts.push_back(x.parts[d]);
    return Unmerged{parts, b_.Transpose(x.array, PlacesOfParts(x.parts, op.dimensions()))};
  }

  Result MakeReduce(const Instruction& op) {
    if (op.num_operands() != 2 || !ValueOf(*op.operand(0))) return std::nullopt;
    const Unmerged& x = *ValueOf(*op.operand(0));
    DimParts parts;
    for (int64_t d = 0; d < static_cast<int64_t>(x.parts.size()); ++d) {
      if (!absl::c_linear_search(op.dimensions(), d)) parts.push_back(x.parts[d]);
    }
    return Unmerged{parts, b_.Op(Opcode::kReduce, Shape(op.shape().element_type(), UnmergedDims(parts)), {x.array, op.operand(1)},
                                 b_.WithDimensions(PlacesOfParts(x.parts, op.dimensions())), {op.called(0)})};
  }

  Result MakeDot(const Instruction& op) {
    if (op.num_operands() != 2) return std::nullopt;
    const DotView dot(op);
    DimParts lhs = PartsOf(*op.operand(0)), rhs = PartsOf(*op.operand(1));
    // What both operands have is in the parts of that which has several.
    const auto agree = [&](absl::Span<const int64_t> of_lhs, absl::Span<const int64_t> of_rhs) {
      for (size_t k = 0; k < of_lhs.size(); ++k) {
        Dims &a = lhs[of_lhs[k]], &b = rhs[of_rhs[k]];
        (a.size() > 1 ? b : a) = Dims(a.size() > 1 ? a : b);
      }
    };
    agree(dot.lhs_batch(), dot.rhs_batch());
    agree(dot.lhs_contracting(), dot.rhs_contracting());
    DimParts parts;
    for (const int64_t d : dot.lhs_batch()) parts.push_back(lhs[d]);
    const auto add_free = [&](const DimParts& of, absl::Span<const int64_t> batch, absl::Span<const int64_t> contracting) {
      for (int64_t d = 0; d < static_cast<int64_t>(of.size()); ++d) {
        if (!absl::c_linear_search(batch, d) && !absl::c_linear_search(contracting, d)) parts.push_back(of[d]);
      }
    };
    add_free(lhs, dot.lhs_batch(), dot.lhs_contracting());
    add_free(rhs, dot.rhs_batch(), dot.rhs_contracting());
    Instruction* made = b_.Clone(op, Shape(op.shape().element_type(), UnmergedDims(parts)),
                                 {In(lhs, op.operand(0)), In(rhs, op.operand(1))});
    auto* numbers = made->MutableAttrs()->mutable_dot_dimension_numbers();
    const auto set = [](const DimParts& of, absl::Span<const int64_t> dims, auto* numbers) {
      const Dims places = PlacesOfParts(of, dims);
      numbers->Assign(places.begin(), places.end());
    };
    set(lhs, dot.lhs_batch(), numbers->mutable_lhs_batch_dimensions());
    set(rhs, dot.rhs_batch(), numbers->mutable_rhs_batch_dimensions());
    set(lhs, dot.lhs_contracting(), numbers->mutable_lhs_contracting_dimensions());
    set(rhs, dot.rhs_contracting(), numbers->mutable_rhs_contracting_dimensions());
    return Unmerged{parts, made};
  }

  // Of dimensions in one part.
  Result MakeSlice(const Instruction& op) {
    const Unmerged& x = *ValueOf(*op.operand(0));
    DimParts parts = x.parts;
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
    return Unmerged{parts, b_.Slice(x.array, starts, limits, strides)};
  }

  Result MakeConcatenate(const Instruction& op) {
    DimParts parts;
    for (const Instruction* x : op.operands()) {
      if (parts.empty() && ValueOf(*x)) parts = ValueOf(*x)->parts;
    }
    const int64_t along = op.dimension();
    if (parts[along].size() > 1) return std::nullopt;
    std::vector<Instruction*> operands;
    for (Instruction* x : op.operands()) {
      parts[along] = {x->shape().dim(along)};
      operands.push_back(In(parts, x));
    }
    parts[along] = {op.shape().dim(along)};
    return Unmerged{parts, b_.Concatenate(operands, PlacesOfParts(parts, {along})[0])};
  }

  Computation* computation_;
  GivenShardings* given_;
  InstructionBuilder b_;
  // By index of the instructions that there were:
  std::vector<Result> values_;  // Those with a merged dimension that are made without.
  std::vector<Instruction*> now_;
};

}  // namespace

absl::StatusOr<bool> UnmergedDimsPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    if (computation->is_fusion() || computation->root() == nullptr) continue;
    ASSIGN_OR_RETURN(const bool here, Unmerger(computation.get(), given_).Run());
    changed |= here;
  }
  return changed;
}

}  // namespace toroid
