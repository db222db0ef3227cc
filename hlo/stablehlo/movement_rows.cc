#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

absl::StatusOr<xla::HloInstructionProto*> WithDimensions(OpConversion& op, absl::string_view key) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  RETURN_IF_ERROR(op.Integers(key, attrs->mutable_dimensions()));
  return attrs;
}

absl::Status ConvertIota(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  RETURN_IF_ERROR(op.Integers("iota_dimension", attrs->mutable_dimensions()));
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  // The sizes of a dynamic_iota are those of its type.
  return op.Finish(op.Add(Opcode::kIota, shape, {}, attrs));
}

// HLO's broadcast does not stretch dimensions of size 1, so they are dropped first. What only adds or moves such
// dimensions is a reshape.
absl::Status ConvertBroadcastInDim(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckArrays());
  if (op.num_operands() < 1) return op.CheckOperands(1);
  ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, op.Integers("broadcast_dimensions"));
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  Instruction* x = op.operand(0);
  if (static_cast<int>(dimensions.size()) != x->shape().rank()) {
    return op.Error(absl::StrCat(dimensions.size(), " dimensions of ", x->shape().ToString()));
  }
  Dims kept_sizes;
  xla::HloInstructionProto* attrs = op.NewAttrs();
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] < 0 || dimensions[d] >= shape.rank()) return op.Error("a dimension is out of range");
    const int64_t size = x->shape().dim(d), wanted = shape.dim(dimensions[d]);
    if (size != wanted && size != 1) return op.Error("a dimension is neither 1 nor that of the result");
    if (size != wanted) continue;
    kept_sizes.push_back(size);
    attrs->add_dimensions(dimensions[d]);
  }
  if (shape.Compatible(x->shape()) && std::is_sorted(dimensions.begin(), dimensions.end()))
    return op.Finish(x);
  const bool in_order = std::is_sorted(dimensions.begin(), dimensions.end());
  if (in_order && !shape.IsDynamic() && x->shape().NumElements() == shape.NumElements() &&
      x->shape().rank() > 0) {
    return op.Finish(op.Add(Opcode::kReshape, shape, {x}));
  }
  if (static_cast<int>(kept_sizes.size()) < x->shape().rank()) {
    x = op.Add(Opcode::kReshape, Shape(x->shape().element_type(), kept_sizes), {x});
  }
  return op.Finish(op.Add(Opcode::kBroadcast, shape, {x}, attrs));
}

// New dimensions stand in front.
absl::Status ConvertBroadcast(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(1));
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, op.Integers("broadcast_sizes"));
  xla::HloInstructionProto* attrs = op.NewAttrs();
  for (int d = 0; d < op.operand(0)->shape().rank(); ++d)
    attrs->add_dimensions(static_cast<int64_t>(sizes.size()) + d);
  return op.Finish(Opcode::kBroadcast, attrs);
}

// The sizes of a dynamic_reshape are those of its type.
absl::Status ConvertReshape(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckArrays());
  if (op.num_operands() < 1) return op.CheckOperands(1);
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  Instruction* x = op.operand(0);
  if (shape.IsDynamic() || x->shape().IsDynamic())
    return op.Error("a reshape of dimensions with bounds is not read");
  return op.Finish(shape.Compatible(x->shape()) ? x : op.Add(Opcode::kReshape, shape, {x}));
}

absl::Status ConvertTranspose(OpConversion& op) {
  ASSIGN_OR_RETURN(const auto* attrs, WithDimensions(op, "permutation"));
  return op.Finish(Opcode::kTranspose, attrs);
}

absl::Status ConvertReverse(OpConversion& op) {
  ASSIGN_OR_RETURN(const auto* attrs, WithDimensions(op, "dimensions"));
  return op.Finish(Opcode::kReverse, attrs);
}

absl::Status ConvertConcatenate(OpConversion& op) {
  ASSIGN_OR_RETURN(const auto* attrs, WithDimensions(op, "dimension"));
  return op.Finish(Opcode::kConcatenate, attrs);
}

absl::Status ConvertDimensionSize(OpConversion& op) {
  ASSIGN_OR_RETURN(const auto* attrs, WithDimensions(op, "dimension"));
  return op.Finish(op.opcode(), attrs);
}

absl::Status ConvertSlice(OpConversion& op) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> starts, op.Integers("start_indices"));
  ASSIGN_OR_RETURN(const std::vector<int64_t> limits, op.IntegersOr("limit_indices", starts.size(), 0));
  ASSIGN_OR_RETURN(const std::vector<int64_t> strides, op.IntegersOr("strides", starts.size(), 1));
  xla::HloInstructionProto* attrs = op.NewAttrs();
  for (size_t d = 0; d < starts.size(); ++d) {
    auto* slice = attrs->add_slice_dimensions();
    slice->set_start(starts[d]);
    slice->set_limit(limits[d]);
    slice->set_stride(strides[d]);
  }
  return op.Finish(Opcode::kSlice, attrs);
}

absl::Status ConvertPad(OpConversion& op) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> low, op.Integers("edge_padding_low"));
  ASSIGN_OR_RETURN(const std::vector<int64_t> high, op.IntegersOr("edge_padding_high", low.size(), 0));
  ASSIGN_OR_RETURN(const std::vector<int64_t> interior, op.IntegersOr("interior_padding", low.size(), 0));
  xla::HloInstructionProto* attrs = op.NewAttrs();
  for (size_t d = 0; d < low.size(); ++d) {
    auto* dimension = attrs->mutable_padding_config()->add_dimensions();
    dimension->set_edge_padding_low(low[d]);
    dimension->set_edge_padding_high(high[d]);
    dimension->set_interior_padding(interior[d]);
  }
  return op.Finish(Opcode::kPad, attrs);
}

absl::Status ConvertDynamicSlice(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  RETURN_IF_ERROR(op.Integers("slice_sizes", attrs->mutable_dynamic_slice_sizes()));
  return op.Finish(Opcode::kDynamicSlice, attrs);
}

absl::Status ConvertGather(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  auto* numbers = attrs->mutable_gather_dimension_numbers();
  ASSIGN_OR_RETURN(const MlirAttribute fields, op.Struct("dimension_numbers"));
  RETURN_IF_ERROR(op.IntegersOfField(fields, "offset_dims", numbers->mutable_offset_dims()));
  RETURN_IF_ERROR(
      op.IntegersOfField(fields, "collapsed_slice_dims", numbers->mutable_collapsed_slice_dims()));
  RETURN_IF_ERROR(
      op.IntegersOfField(fields, "operand_batching_dims", numbers->mutable_operand_batching_dims()));
  RETURN_IF_ERROR(op.IntegersOfField(fields, "start_indices_batching_dims",
                                     numbers->mutable_start_indices_batching_dims()));
  RETURN_IF_ERROR(op.IntegersOfField(fields, "start_index_map", numbers->mutable_start_index_map()));
  ASSIGN_OR_RETURN(const int64_t vector_dim, op.IntegerOfField(fields, "index_vector_dim", 0));
  numbers->set_index_vector_dim(vector_dim);
  RETURN_IF_ERROR(op.Integers("slice_sizes", attrs->mutable_gather_slice_sizes()));
  attrs->set_indices_are_sorted(op.Flag("indices_are_sorted"));
  return op.Finish(Opcode::kGather, attrs);
}

constexpr OpRow kRows[] = {
    {"stablehlo.broadcast", Opcode::kBroadcast, ConvertBroadcast},
    {"stablehlo.broadcast_in_dim", Opcode::kBroadcast, ConvertBroadcastInDim},
    {"stablehlo.concatenate", Opcode::kConcatenate, ConvertConcatenate},
    {"stablehlo.dynamic_broadcast_in_dim", Opcode::kBroadcast, ConvertBroadcastInDim},
    {"stablehlo.dynamic_iota", Opcode::kIota, ConvertIota},
    {"stablehlo.dynamic_reshape", Opcode::kReshape, ConvertReshape},
    {"stablehlo.dynamic_slice", Opcode::kDynamicSlice, ConvertDynamicSlice},
    {"stablehlo.dynamic_update_slice", Opcode::kDynamicUpdateSlice},
    {"stablehlo.gather", Opcode::kGather, ConvertGather},
    {"stablehlo.get_dimension_size", Opcode::kGetDimensionSize, ConvertDimensionSize},
    {"stablehlo.iota", Opcode::kIota, ConvertIota},
    {"stablehlo.pad", Opcode::kPad, ConvertPad},
    {"stablehlo.reshape", Opcode::kReshape, ConvertReshape},
    {"stablehlo.reverse", Opcode::kReverse, ConvertReverse},
    {"stablehlo.set_dimension_size", Opcode::kSetDimensionSize, ConvertDimensionSize},
    {"stablehlo.slice", Opcode::kSlice, ConvertSlice},
    {"stablehlo.transpose", Opcode::kTranspose, ConvertTranspose},
};

}  // namespace

absl::Span<const OpRow> MovementRows() { return kRows; }

}  // namespace toroid
