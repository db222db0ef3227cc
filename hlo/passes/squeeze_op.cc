#include "hlo/passes/squeeze_op.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/unit_dims.h"
#include "hlo/passes/squeeze_indexing.h"

namespace toroid {
namespace {

bool HasUnits(const Shape& shape) { return absl::c_linear_search(shape.dims(), 1); }
bool KeepsAll(const KeptDims& kept) { return !absl::c_linear_search(kept, false); }

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && !shape.IsDynamic() && !shape.IsBuffer() && shape.custom_layout() == nullptr;
}

bool ArePlain(const Shape& shape) {
  return shape.IsTuple() ? absl::c_all_of(shape.tuple_shapes(), IsPlain) : IsPlain(shape);
}

bool IsSorted(absl::Span<const int64_t> dims, const KeptDims& kept) {
  int64_t last = -1;
  for (const int64_t d : dims) {
    if (!kept[d]) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

using Result = std::optional<SqueezedOp>;

// Operands are scalars, which stay, and arrays of the result's shape.
Result SqueezeElementwise(const Instruction& op) {
  SqueezedOp squeezed{.kept = KeepSized(op.shape())};
  for (Instruction* x : op.operands()) {
    if (!x->shape().IsScalar() && !x->shape().SameDims(op.shape())) return std::nullopt;
    squeezed.operands.push_back({x, x->shape().IsScalar() ? KeptDims() : squeezed.kept});
  }
  return squeezed;
}

Result SqueezeMovement(const Instruction& op) {
  Instruction* x = op.operand(0);
  const Shape &from = x->shape(), &to = op.shape();
  SqueezedOp squeezed{.operands = {{x, KeepSized(from)}}, .kept = KeepSized(to)};
  const bool keeps_sizes = from.element_type() == to.element_type() && SameButUnitDims(from, to);
  switch (op.opcode()) {
    case Opcode::kReshape:
      if (op.attrs().dimensions_size() > 0) return std::nullopt;  // It has an inferred dimension.
      squeezed.is_operand = keeps_sizes;
      break;
    case Opcode::kBroadcast:
      squeezed.is_operand = keeps_sizes && IsSorted(op.dimensions(), squeezed.kept);
      break;
    case Opcode::kTranspose:
      squeezed.is_operand = keeps_sizes && IsSorted(op.dimensions(), squeezed.operands[0].kept);
      break;
    default:  // A reversal of unit dimensions does nothing.
      squeezed.is_operand =
          keeps_sizes && absl::c_none_of(op.dimensions(), [&](int64_t d) { return squeezed.kept[d]; });
      break;
  }
  return squeezed;
}

// For ops whose operand `from` and result have the same dimension numbers: drops the dimensions that have one
// element in both. `stays(d)`: the op needs dimension d all the same.
template <typename Stays>
SqueezedOp SqueezeAlike(const Instruction& op, Instruction* from, Stays stays) {
  SqueezedOp squeezed;
  for (int d = 0; d < op.shape().rank(); ++d) {
    squeezed.kept.push_back(from->shape().dim(d) != 1 || op.shape().dim(d) != 1 || stays(d));
  }
  squeezed.operands.push_back({from, squeezed.kept});
  return squeezed;
}

// A dimension that is cut to one element stays.
Result SqueezeSlice(const Instruction& op) {
  SqueezedOp squeezed = SqueezeAlike(op, op.operand(0), [](int) { return false; });
  squeezed.is_operand = op.shape() == op.operand(0)->shape();
  if (op.opcode() == Opcode::kSlice || squeezed.is_operand) return squeezed;
  if (op.num_operands() != 1 + op.shape().rank()) return std::nullopt;  // The starts are one vector.
  for (int d = 0; d < op.shape().rank(); ++d) {
    if (squeezed.kept[d])
      squeezed.operands.push_back({op.operand(1 + d), KeptDims(op.operand(1 + d)->shape().rank(), true)});
  }
  return squeezed;
}

Result SqueezePad(const Instruction& op) {
  const PadView padding(op);
  SqueezedOp squeezed = SqueezeAlike(op, op.operand(0), [&](int d) { return padding[d].low != 0; });
  squeezed.operands.push_back({op.operand(1), {}});
  return squeezed;
}

Result SqueezeReduceWindow(const Instruction& op) {
  if (op.num_operands() != 2) return std::nullopt;
  const WindowView window(op);
  SqueezedOp squeezed = SqueezeAlike(op, op.operand(0), [&](int d) {
    const WindowDim dim = window[d];
    return dim.size != 1 || dim.padding_low != 0 || dim.padding_high != 0;
  });
  squeezed.operands.push_back({op.operand(1), {}});
  return squeezed;
}

// Concatenate, all-gather, reduce-scatter: the dimension that the op works along stays.
Result SqueezeAlong(const Instruction& op) {
  if (op.dimensions().size() != 1) return std::nullopt;
  if (IsCollective(op.opcode()) && op.num_operands() != 1) return std::nullopt;
  SqueezedOp squeezed{.kept = KeepSized(op.shape())};
  squeezed.kept[op.dimension()] = true;
  for (Instruction* x : op.operands()) squeezed.operands.push_back({x, squeezed.kept});
  return squeezed;
}

Result SqueezeIota(const Instruction& op) {
  SqueezedOp squeezed{.kept = KeepSized(op.shape())};
  squeezed.kept[op.dimension()] = true;
  return squeezed;
}

Result SqueezeDot(const Instruction& op) {
  SqueezedOp squeezed{.kept = KeepSized(op.shape())};
  for (Instruction* x : op.operands()) squeezed.operands.push_back({x, KeepSized(x->shape())});
  // An outer product stays: without a contracting dimension squeezing gains nothing.
  const auto is_kept = [&](int64_t d) { return squeezed.operands[0].kept[d]; };
  if (op.num_operands() != 2 || absl::c_none_of(DotView(op).lhs_contracting(), is_kept)) return std::nullopt;
  return squeezed;
}

Result SqueezeReduce(const Instruction& op) {
  const KeptDims kept = KeepSized(op.operand(0)->shape());
  if (absl::c_none_of(op.dimensions(), [&](int64_t d) { return kept[d]; })) return std::nullopt;
  SqueezedOp squeezed{.kept = KeepSized(op.shape().IsTuple() ? op.shape().tuple_shape(0) : op.shape())};
  const int arrays = op.num_operands() / 2;
  for (int k = 0; k < op.num_operands(); ++k)
    squeezed.operands.push_back({op.operand(k), k < arrays ? kept : KeptDims()});
  return squeezed;
}

Result Plan(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kReshape:
    case Opcode::kBroadcast:
    case Opcode::kTranspose:
    case Opcode::kReverse:
      return SqueezeMovement(op);
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
      return SqueezeSlice(op);
    case Opcode::kPad:
      return SqueezePad(op);
    case Opcode::kReduceWindow:
      return SqueezeReduceWindow(op);
    case Opcode::kConcatenate:
    case Opcode::kAllGather:
    case Opcode::kReduceScatter:
      return SqueezeAlong(op);
    case Opcode::kIota:
      return SqueezeIota(op);
    case Opcode::kDot:
      return SqueezeDot(op);
    case Opcode::kReduce:
      return SqueezeReduce(op);
    case Opcode::kGather:
    case Opcode::kScatter:
      return SqueezeIndexing(op);
    case Opcode::kAllReduce:
    case Opcode::kCollectivePermute:
      return op.num_operands() == 1 ? SqueezeElementwise(op) : std::nullopt;
    case Opcode::kOptimizationBarrier:
      return std::nullopt;
    default:
      return IsElementwise(op.opcode()) ? SqueezeElementwise(op) : std::nullopt;
  }
}

bool HaveNewNumbers(const KeptDims& kept, absl::Span<const int64_t> dims) {
  return absl::c_any_of(dims, [&](int64_t d) { return !kept[d] || NumberAmong(kept, d) != d; });
}

}  // namespace

std::optional<SqueezedOp> Squeeze(const Instruction& op) {
  bool has_units = HasUnits(op.shape());
  for (const Instruction* x : op.operands()) has_units = has_units || HasUnits(x->shape());
  if (!has_units || !ArePlain(op.shape())) return std::nullopt;
  for (const Instruction* x : op.operands()) {
    if (!IsPlain(x->shape())) return std::nullopt;
  }
  std::optional<SqueezedOp> squeezed = Plan(op);
  if (!squeezed.has_value() || squeezed->is_operand) return squeezed;
  const bool keeps_all = KeepsAll(squeezed->kept) &&
                         absl::c_all_of(squeezed->operands, [](const auto& x) { return KeepsAll(x.kept); });
  return keeps_all ? std::nullopt : squeezed;
}

void SqueezeAttributes(const SqueezedOp& squeezed, Instruction* op) {
  const KeptDims& result = squeezed.kept;
  const KeptDims& first = squeezed.operands.empty() ? result : squeezed.operands[0].kept;
  // Instructions share attributes: copy them only if something changes.
  const auto renumber = [op](const KeptDims& kept) {
    if (HaveNewNumbers(kept, op->dimensions())) Renumber(kept, op->MutableAttrs()->mutable_dimensions());
  };
  switch (op->opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kIota:
    case Opcode::kAllGather:
    case Opcode::kReduceScatter:
      return renumber(result);
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kReduce:
      return renumber(first);
    case Opcode::kSlice:
      return DropEntries(result, op->MutableAttrs()->mutable_slice_dimensions());
    case Opcode::kDynamicSlice:
      return DropEntries(result, op->MutableAttrs()->mutable_dynamic_slice_sizes());
    case Opcode::kPad:
      return DropEntries(result, op->MutableAttrs()->mutable_padding_config()->mutable_dimensions());
    case Opcode::kReduceWindow:
      return DropEntries(result, op->MutableAttrs()->mutable_window()->mutable_dimensions());
    case Opcode::kDot: {
      const KeptDims& second = squeezed.operands[1].kept;
      const DotView dot(*op);
      if (!HaveNewNumbers(first, dot.lhs_contracting()) && !HaveNewNumbers(first, dot.lhs_batch()) &&
          !HaveNewNumbers(second, dot.rhs_contracting()) && !HaveNewNumbers(second, dot.rhs_batch())) {
        return;
      }
      xla::DotDimensionNumbers* numbers = op->MutableAttrs()->mutable_dot_dimension_numbers();
      Renumber(first, numbers->mutable_lhs_contracting_dimensions());
      Renumber(first, numbers->mutable_lhs_batch_dimensions());
      Renumber(second, numbers->mutable_rhs_contracting_dimensions());
      Renumber(second, numbers->mutable_rhs_batch_dimensions());
      return;
    }
    case Opcode::kGather:
    case Opcode::kScatter:
      return SqueezeIndexingAttributes(squeezed, op);
    default:
      return;
  }
}

}  // namespace toroid
