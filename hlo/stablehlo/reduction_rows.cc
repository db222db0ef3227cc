#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

absl::Status ConvertReduce(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  RETURN_IF_ERROR(op.Integers("dimensions", attrs->mutable_dimensions()));
  ASSIGN_OR_RETURN(Computation * reducer, op.Region(0, "region"));
  return op.Finish(op.opcode(), attrs, {reducer});
}

// The window of reduce_window and select_and_scatter.
absl::Status AddWindow(OpConversion& op, xla::Window* window) {
  std::vector<int64_t> ones;
  if (op.num_operands() > 0) ones.assign(op.operand(0)->shape().rank(), 1);
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, op.Has("window_dimensions")
                                                         ? op.Integers("window_dimensions")
                                                         : absl::StatusOr<std::vector<int64_t>>(ones));
  ASSIGN_OR_RETURN(const std::vector<int64_t> strides, op.IntegersOr("window_strides", sizes.size(), 1));
  ASSIGN_OR_RETURN(const std::vector<int64_t> base, op.IntegersOr("base_dilations", sizes.size(), 1));
  ASSIGN_OR_RETURN(const std::vector<int64_t> dilations, op.IntegersOr("window_dilations", sizes.size(), 1));
  ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> padding, op.Rows("padding"));
  if (!padding.empty() && padding.size() != sizes.size())
    return op.Error("padding has two numbers a dimension");
  for (size_t d = 0; d < sizes.size(); ++d) {
    auto* dimension = window->add_dimensions();
    dimension->set_size(sizes[d]);
    dimension->set_stride(strides[d]);
    dimension->set_base_dilation(base[d]);
    dimension->set_window_dilation(dilations[d]);
    if (padding.empty()) continue;
    if (padding[d].size() != 2) return op.Error("padding has two numbers a dimension");
    dimension->set_padding_low(padding[d][0]);
    dimension->set_padding_high(padding[d][1]);
  }
  return absl::OkStatus();
}

absl::Status ConvertReduceWindow(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  RETURN_IF_ERROR(AddWindow(op, attrs->mutable_window()));
  ASSIGN_OR_RETURN(Computation * reducer, op.Region(0, "region"));
  return op.Finish(Opcode::kReduceWindow, attrs, {reducer});
}

absl::Status ConvertSelectAndScatter(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  RETURN_IF_ERROR(AddWindow(op, attrs->mutable_window()));
  ASSIGN_OR_RETURN(Computation * select, op.Region(0, "region"));
  ASSIGN_OR_RETURN(Computation * scatter, op.Region(1, "region"));
  return op.Finish(Opcode::kSelectAndScatter, attrs, {select, scatter});
}

absl::Status ConvertSort(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  int64_t dimension = -1;
  if (op.Has("dimension")) {
    ASSIGN_OR_RETURN(dimension, op.Integer("dimension"));
  }
  if (dimension < 0 && op.num_operands() > 0) dimension += op.operand(0)->shape().rank();
  attrs->add_dimensions(dimension);
  attrs->set_is_stable(op.Flag("is_stable"));
  ASSIGN_OR_RETURN(Computation * compare, op.Region(0, "region"));
  return op.Finish(Opcode::kSort, attrs, {compare});
}

absl::Status ConvertScatter(OpConversion& op) {
  xla::HloInstructionProto* attrs = op.NewAttrs();
  auto* numbers = attrs->mutable_scatter_dimension_numbers();
  ASSIGN_OR_RETURN(const MlirAttribute fields, op.Struct("scatter_dimension_numbers"));
  const std::pair<absl::string_view, OpConversion::IntegerField*> lists[] = {
      {"update_window_dims", numbers->mutable_update_window_dims()},
      {"inserted_window_dims", numbers->mutable_inserted_window_dims()},
      {"input_batching_dims", numbers->mutable_input_batching_dims()},
      {"scatter_indices_batching_dims", numbers->mutable_scatter_indices_batching_dims()},
      {"scatter_dims_to_operand_dims", numbers->mutable_scatter_dims_to_operand_dims()}};
  for (const auto& [key, out] : lists) RETURN_IF_ERROR(op.IntegersOfField(fields, key, out));
  ASSIGN_OR_RETURN(const int64_t vector_dim, op.IntegerOfField(fields, "index_vector_dim", 0));
  numbers->set_index_vector_dim(vector_dim);
  attrs->set_indices_are_sorted(op.Flag("indices_are_sorted"));
  attrs->set_unique_indices(op.Flag("unique_indices"));
  ASSIGN_OR_RETURN(Computation * combiner, op.Region(0, "region"));
  return op.Finish(Opcode::kScatter, attrs, {combiner});
}

constexpr OpRow kRows[] = {
    {"stablehlo.map", Opcode::kMap, ConvertReduce},
    {"stablehlo.reduce", Opcode::kReduce, ConvertReduce},
    {"stablehlo.reduce_window", Opcode::kReduceWindow, ConvertReduceWindow},
    {"stablehlo.scatter", Opcode::kScatter, ConvertScatter},
    {"stablehlo.select_and_scatter", Opcode::kSelectAndScatter, ConvertSelectAndScatter},
    {"stablehlo.sort", Opcode::kSort, ConvertSort},
};

}  // namespace

absl::Span<const OpRow> ReductionRows() { return kRows; }

}  // namespace toroid
