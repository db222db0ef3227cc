#include "hlo/stablehlo/write/op_attributes.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/op_rows.h"
#include "hlo/stablehlo/write/attribute_texts.h"

namespace toroid {
namespace {

// ---- By family

Text Comparison(const Instruction& op) {
  const std::string& type = op.attrs().comparison_type();
  return Join(Keyword("comparison_direction", "comparison_direction", op.attrs().comparison_direction()),
              type.empty() ? "" : Keyword("compare_type", "comparison_type", type));
}

Text ReducedPrecision(const Instruction& op) {
  return Join(Integer("exponent_bits", op.attrs().exponent_bits(), "i32"),
              Integer("mantissa_bits", op.attrs().mantissa_bits(), "i32"));
}

template <const char* kKey>
Text Dimensions(const Instruction& op) {
  return absl::StrCat(kKey, " = ", Array(op.dimensions()));
}

template <const char* kKey>
Text Dimension(const Instruction& op) {
  return Integer(kKey, op.dimension());
}

constexpr char kBroadcastDimensions[] = "broadcast_dimensions", kPermutation[] = "permutation",
               kDimensions[] = "dimensions", kDimension[] = "dimension", kIotaDimension[] = "iota_dimension";

Text SliceBoundsText(const Instruction& op) {
  std::vector<int64_t> starts, limits, strides;
  for (int d = 0; d < op.shape().rank(); ++d) {
    const SliceBounds bounds = SliceView(op)[d];
    starts.push_back(bounds.start);
    limits.push_back(bounds.limit);
    strides.push_back(bounds.stride);
  }
  return absl::StrCat("limit_indices = ", Array(limits), ", start_indices = ", Array(starts),
                      ", strides = ", Array(strides));
}

Text PadText(const Instruction& op) {
  std::vector<int64_t> low, high, interior;
  for (int d = 0; d < op.shape().rank(); ++d) {
    const EdgePadding padding = PadView(op)[d];
    low.push_back(padding.low);
    high.push_back(padding.high);
    interior.push_back(padding.interior);
  }
  return absl::StrCat("edge_padding_high = ", Array(high), ", edge_padding_low = ", Array(low),
                      ", interior_padding = ", Array(interior));
}

Text SliceSizes(const Instruction& op) {
  return absl::StrCat("slice_sizes = ", Array(op.attrs().dynamic_slice_sizes()));
}

Text GatherText(const Instruction& op) {
  const GatherView gather(op);
  return absl::StrCat("dimension_numbers = #stablehlo.gather<offset_dims = ", List(gather.offset_dims()),
                      ", collapsed_slice_dims = ", List(gather.collapsed_slice_dims()),
                      ", operand_batching_dims = ", List(gather.operand_batching_dims()),
                      ", start_indices_batching_dims = ", List(gather.start_indices_batching_dims()),
                      ", start_index_map = ", List(gather.start_index_map()),
                      ", index_vector_dim = ", gather.index_vector_dim(), ">, ",
                      Flag("indices_are_sorted", op.attrs().indices_are_sorted()),
                      ", slice_sizes = ", Array(gather.slice_sizes()));
}

Text ScatterText(const Instruction& op) {
  const ScatterView scatter(op);
  return absl::StrCat(Flag("indices_are_sorted", op.attrs().indices_are_sorted()),
                      ", scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = ",
                      List(scatter.update_window_dims()),
                      ", inserted_window_dims = ", List(scatter.inserted_window_dims()),
                      ", input_batching_dims = ", List(scatter.operand_batching_dims()),
                      ", scatter_indices_batching_dims = ", List(scatter.indices_batching_dims()),
                      ", scatter_dims_to_operand_dims = ", List(scatter.scatter_dims_to_operand_dims()),
                      ", index_vector_dim = ", scatter.index_vector_dim(), ">, ",
                      Flag("unique_indices", op.attrs().unique_indices()));
}

Text ReduceWindowText(const Instruction& op) {
  const WindowView window(op);
  for (const WindowDim& dim : window.dimensions()) {
    if (dim.reversed) return absl::InvalidArgumentError("StableHLO has no reversed windows");
  }
  return absl::StrCat("base_dilations = ", Array(OfWindow(window, &WindowDim::base_dilation)), ", ",
                      Padding(window),
                      ", window_dilations = ", Array(OfWindow(window, &WindowDim::window_dilation)),
                      ", window_dimensions = ", Array(OfWindow(window, &WindowDim::size)),
                      ", window_strides = ", Array(OfWindow(window, &WindowDim::stride)));
}

Text SelectAndScatterText(const Instruction& op) {
  const WindowView window(op);
  for (const WindowDim& dim : window.dimensions()) {
    if (dim.reversed || dim.base_dilation != 1 || dim.window_dilation != 1) {
      return absl::InvalidArgumentError("StableHLO has no dilated windows of select-and-scatter");
    }
  }
  return absl::StrCat(Padding(window), ", window_dimensions = ", Array(OfWindow(window, &WindowDim::size)),
                      ", window_strides = ", Array(OfWindow(window, &WindowDim::stride)));
}

Text SortText(const Instruction& op) {
  return Join(Integer("dimension", op.dimension()), Flag("is_stable", op.attrs().is_stable()));
}

Text TopKText(const Instruction& op) {
  if (!op.attrs().largest())
    return absl::InvalidArgumentError("StableHLO has no topk of the smallest elements");
  return Integer("k", op.attrs().k());
}

// ---- Linear algebra, random numbers

Text FftText(const Instruction& op) {
  return absl::StrCat("fft_length = ", Array(op.attrs().fft_length()), ", ",
                      Keyword("fft_type", "fft_type", xla::FftType_Name(op.attrs().fft_type())));
}

Text CholeskyText(const Instruction& op) { return Flag("lower", op.attrs().cholesky_options().lower()); }

Text TriangularSolveText(const Instruction& op) {
  const auto& options = op.attrs().triangular_solve_options();
  return Join(
      Flag("left_side", options.left_side()), Flag("lower", options.lower()),
      Keyword("transpose_a", "transpose", xla::TriangularSolveOptions::Transpose_Name(options.transpose_a())),
      Flag("unit_diagonal", options.unit_diagonal()));
}

Text BatchNormText(const Instruction& op) {
  return absl::StrCat(absl::StrFormat("epsilon = %.9e : f32, ", op.attrs().epsilon()),
                      Integer("feature_index", op.attrs().feature_index()));
}

Text RngBitsText(const Instruction& op) {
  const auto algorithm = op.attrs().rng_algorithm();
  return Keyword("rng_algorithm", "rng_algorithm",
                 algorithm == xla::RNG_THREE_FRY ? "THREE_FRY"
                 : algorithm == xla::RNG_PHILOX  ? "PHILOX"
                                                 : "DEFAULT");
}

Text Nothing(const Instruction&) { return std::string(); }

struct WriteRow {
  Opcode opcode;
  const char* name;
  Text (*attributes)(const Instruction& op);
};

constexpr WriteRow kRows[] = {
    {Opcode::kAfterAll, "after_all", Nothing},
    {Opcode::kAllGather, "all_gather", AllGatherText},
    {Opcode::kAllReduce, "all_reduce", AllReduceText},
    {Opcode::kAllToAll, "all_to_all", AllToAllText},
    {Opcode::kBatchNormGrad, "batch_norm_grad", BatchNormText},
    {Opcode::kBatchNormInference, "batch_norm_inference", BatchNormText},
    {Opcode::kBatchNormTraining, "batch_norm_training", BatchNormText},
    {Opcode::kBroadcast, "broadcast_in_dim", Dimensions<kBroadcastDimensions>},
    {Opcode::kCholesky, "cholesky", CholeskyText},
    {Opcode::kCollectiveBroadcast, "collective_broadcast", CollectiveBroadcastText},
    {Opcode::kCollectivePermute, "collective_permute", PermuteText},
    {Opcode::kCompare, "compare", Comparison},
    {Opcode::kConcatenate, "concatenate", Dimension<kDimension>},
    {Opcode::kConvolution, "convolution", ConvolutionText},
    {Opcode::kDot, "dot_general", DotText},
    {Opcode::kDynamicSlice, "dynamic_slice", SliceSizes},
    {Opcode::kDynamicUpdateSlice, "dynamic_update_slice", Nothing},
    {Opcode::kFft, "fft", FftText},
    {Opcode::kGather, "gather", GatherText},
    {Opcode::kGetDimensionSize, "get_dimension_size", Dimension<kDimension>},
    {Opcode::kIota, "iota", Dimension<kIotaDimension>},
    {Opcode::kMap, "map", Dimensions<kDimensions>},
    {Opcode::kOptimizationBarrier, "optimization_barrier", Nothing},
    {Opcode::kPad, "pad", PadText},
    {Opcode::kPartitionId, "partition_id", Nothing},
    {Opcode::kReduce, "reduce", Dimensions<kDimensions>},
    {Opcode::kReducePrecision, "reduce_precision", ReducedPrecision},
    {Opcode::kReduceScatter, "reduce_scatter", ReduceScatterText},
    {Opcode::kReduceWindow, "reduce_window", ReduceWindowText},
    {Opcode::kReplicaId, "replica_id", Nothing},
    {Opcode::kReshape, "reshape", Nothing},
    {Opcode::kReverse, "reverse", Dimensions<kDimensions>},
    {Opcode::kRngBitGenerator, "rng_bit_generator", RngBitsText},
    {Opcode::kScatter, "scatter", ScatterText},
    {Opcode::kSelectAndScatter, "select_and_scatter", SelectAndScatterText},
    {Opcode::kSetDimensionSize, "set_dimension_size", Dimension<kDimension>},
    {Opcode::kSlice, "slice", SliceBoundsText},
    {Opcode::kSort, "sort", SortText},
    {Opcode::kTranspose, "transpose", Dimensions<kPermutation>},
    {Opcode::kTriangularSolve, "triangular_solve", TriangularSolveText},
};

// By opcode: the rows above, and the operations without attributes among those that are read.
const absl::flat_hash_map<Opcode, WriteRow>& RowsByOpcode() {
  static const auto& table = *new absl::flat_hash_map<Opcode, WriteRow>([] {
    absl::flat_hash_map<Opcode, WriteRow> rows;
    for (const WriteRow& row : kRows) rows.emplace(row.opcode, row);
    for (const auto& family : {ElementwiseRows(), ChloRows()}) {
      for (const OpRow& row : family) {
        if (row.opcode != Opcode::kUnknown)
          rows.emplace(row.opcode, WriteRow{row.opcode, row.name.data(), Nothing});
      }
    }
    rows[Opcode::kTopK].attributes = TopKText;
    return rows;
  }());
  return table;
}

}  // namespace

absl::StatusOr<StableHloOp> StableHloOpOf(const Instruction& instruction) {
  const auto row = RowsByOpcode().find(instruction.opcode());
  if (row == RowsByOpcode().end()) {
    return absl::InvalidArgumentError(absl::StrCat("StableHLO has no ", instruction.opcode_name()));
  }
  ASSIGN_OR_RETURN(std::string attributes, row->second.attributes(instruction));
  const absl::string_view name = row->second.name;
  return StableHloOp{absl::StrContains(name, ".") ? std::string(name) : absl::StrCat("stablehlo.", name),
                     std::move(attributes)};
}

}  // namespace toroid
