#include "hlo/io/attribute_table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "hlo/devices/permute_pattern.h"
#include "hlo/io/attribute_values.h"
#include "hlo/io/device_groups_text.h"
#include "hlo/io/literal_text.h"
#include "hlo/io/shape_text.h"
#include "hlo/ir/attribute_views.h"

namespace toroid {
namespace {

using Proto = xla::HloInstructionProto;

// ---- Attributes with a spelling of their own --------------------------------------------------------------

absl::Status ParseSourceTargets(TextScanner* scanner, Proto* attrs) {
  return ParsePairs(scanner, attrs->mutable_source_target_pairs());
}
std::optional<std::string> PrintSourceTargets(const Instruction& i) {
  return PairsToString(SourceTargetPairs(i.attrs()));
}

absl::Status ParsePermuteSlices(TextScanner* scanner, Proto* attrs) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, scanner->IntegerList());
    attrs->mutable_dynamic_slice_sizes()->Add(sizes.begin(), sizes.end());
    return absl::OkStatus();
  });
}
std::optional<std::string> PrintPermuteSlices(const Instruction& i) {
  const auto& sizes = i.attrs().dynamic_slice_sizes();
  if (sizes.empty()) return std::nullopt;
  int rank = i.num_operands() > 0 ? i.operand(0)->shape().rank() : 0;
  if (rank == 0 || sizes.size() % rank != 0) rank = sizes.size();
  std::vector<std::string> slices;
  for (int at = 0; at < sizes.size(); at += rank) {
    slices.push_back(
        absl::StrCat("{", absl::StrJoin(sizes.begin() + at, sizes.begin() + at + rank, ","), "}"));
  }
  return absl::StrCat("{", absl::StrJoin(slices, ","), "}");
}

absl::Status ParseOperandPrecision(TextScanner* scanner, Proto* attrs) {
  return scanner->List("{", "}", [&]() -> absl::Status {
    if (scanner->ConsumeWord("packed_nibble")) {
      attrs->mutable_precision_config()->add_operand_precision(xla::PrecisionConfig::DEFAULT);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(
        const int precision,
        ParseEnumerator(scanner, *xla::PrecisionConfig::Precision_descriptor(), "", /*lower=*/true));
    attrs->mutable_precision_config()->add_operand_precision(
        static_cast<xla::PrecisionConfig::Precision>(precision));
    return absl::OkStatus();
  });
}
std::optional<std::string> PrintOperandPrecision(const Instruction& i) {
  const auto& list = i.attrs().precision_config().operand_precision();
  if (std::all_of(list.begin(), list.end(), [](int p) { return p == xla::PrecisionConfig::DEFAULT; })) {
    return std::nullopt;
  }
  return absl::StrCat("{",
                      absl::StrJoin(list, ",",
                                    [](std::string* s, int precision) {
                                      s->append(EnumeratorText(*xla::PrecisionConfig::Precision_descriptor(),
                                                               "", /*lower=*/true, precision));
                                    }),
                      "}");
}

absl::Status ParseAlgorithm(TextScanner* scanner, Proto* attrs) {
  ASSIGN_OR_RETURN(
      const int algorithm,
      ParseEnumerator(scanner, *xla::PrecisionConfig::Algorithm_descriptor(), "ALG_", /*lower=*/true));
  attrs->mutable_precision_config()->set_algorithm(static_cast<xla::PrecisionConfig::Algorithm>(algorithm));
  return absl::OkStatus();
}
std::optional<std::string> PrintAlgorithm(const Instruction& i) {
  const int algorithm = i.attrs().precision_config().algorithm();
  if (algorithm == 0) return std::nullopt;
  return EnumeratorText(*xla::PrecisionConfig::Algorithm_descriptor(), "ALG_", /*lower=*/true, algorithm);
}

absl::Status ParseConvolutionKind(TextScanner* scanner, Proto* attrs) {
  ASSIGN_OR_RETURN(const int kind, ParseEnumerator(scanner, *xla::ConvolutionKind_descriptor(),
                                                   "CONVOLUTION_KIND_", /*lower=*/true));
  attrs->set_conv_kind(static_cast<xla::ConvolutionKind>(kind));
  return absl::OkStatus();
}
std::optional<std::string> PrintConvolutionKind(const Instruction& i) {
  if (i.attrs().conv_kind() == 0) return std::nullopt;
  return EnumeratorText(*xla::ConvolutionKind_descriptor(), "CONVOLUTION_KIND_", /*lower=*/true,
                        i.attrs().conv_kind());
}

absl::Status ParseAssociative(TextScanner* scanner, Proto* attrs) {
  ASSIGN_OR_RETURN(const bool value, scanner->Boolean());
  attrs->set_is_associative(value ? xla::TRI_STATE_TRUE : xla::TRI_STATE_FALSE);
  return absl::OkStatus();
}
std::optional<std::string> PrintAssociative(const Instruction& i) {
  if (i.attrs().is_associative() == xla::TRI_STATE_UNSPECIFIED) return std::nullopt;
  return i.attrs().is_associative() == xla::TRI_STATE_TRUE ? "true" : "false";
}

absl::Status ParsePrefetchIndex(TextScanner* scanner, Proto* attrs) {
  const size_t begin = scanner->Position();
  ASSIGN_OR_RETURN(const int64_t index, scanner->Integer());
  if (index != static_cast<int32_t>(index)) return scanner->ErrorAt(begin, "integer out of range");
  attrs->set_cross_program_prefetch_index(static_cast<int32_t>(index));
  return absl::OkStatus();
}
std::optional<std::string> PrintPrefetchIndex(const Instruction& i) {
  const Proto& attrs = i.attrs();
  if (attrs.has_cross_program_prefetch_index()) return absl::StrCat(attrs.cross_program_prefetch_index());
  // The older form of cross_program_prefetch_index=0.
  return attrs.is_cross_program_prefetch() ? std::optional<std::string>("0") : std::nullopt;
}

absl::Status ParseLayoutConstraints(TextScanner* scanner, Proto* attrs) {
  attrs->set_constrain_layout(true);
  return scanner->List("{", "}", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const Shape shape, ParseShape(scanner));
    shape.ToProto(attrs->add_operand_shapes_with_layout());
    return absl::OkStatus();
  });
}
std::optional<std::string> PrintLayoutConstraints(const Instruction& i) {
  if (!i.attrs().constrain_layout()) return std::nullopt;
  std::vector<std::string> shapes;
  for (const xla::ShapeProto& proto : i.attrs().operand_shapes_with_layout()) {
    const absl::StatusOr<Shape> shape = Shape::FromProto(proto);
    shapes.push_back(shape.ok() ? shape->ToString(/*with_layout=*/true) : "opaque[]");
  }
  return absl::StrCat("{", absl::StrJoin(shapes, ", "), "}");
}

absl::Status ParseCallLiteral(TextScanner* scanner, Proto* attrs) {
  ASSIGN_OR_RETURN(const Shape shape, ParseShape(scanner));
  ASSIGN_OR_RETURN(const std::optional<Literal> literal, ParseLiteral(shape, scanner));
  if (literal) literal->ToProto(attrs->mutable_literal());
  return absl::OkStatus();
}
std::optional<std::string> PrintCallLiteral(const Instruction& i) {
  if (!i.attrs().has_literal()) return std::nullopt;
  const absl::StatusOr<Literal> literal = LiteralOf(i);
  if (!literal.ok()) return std::nullopt;
  std::string out = absl::StrCat(literal->shape().ToString(/*with_layout=*/true), " ");
  AppendLiteral(*literal, &out);
  return out;
}

absl::Status ParseOutfeedShape(TextScanner* scanner, Proto* attrs) {
  ASSIGN_OR_RETURN(const Shape shape, ParseShape(scanner));
  shape.ToProto(attrs->mutable_outfeed_shape());
  return absl::OkStatus();
}
std::optional<std::string> PrintOutfeedShape(const Instruction& i) {
  const absl::StatusOr<Shape> shape = Shape::FromProto(i.attrs().outfeed_shape());
  if (!i.attrs().has_outfeed_shape() || !shape.ok()) return std::nullopt;
  return shape->ToString(/*with_layout=*/true);
}

absl::Status ParseDimLabelsAttribute(TextScanner* scanner, Proto* attrs) {
  return ParseDimLabels(scanner, attrs->mutable_convolution_dimension_numbers());
}
std::optional<std::string> PrintDimLabels(const Instruction& i) {
  if (!i.attrs().has_convolution_dimension_numbers()) return std::nullopt;
  const auto rank = [&](int operand) {
    return operand < i.num_operands() ? i.operand(operand)->shape().rank() : 0;
  };
  return DimLabelsToString(i.attrs().convolution_dimension_numbers(), rank(0), rank(1), i.shape().rank());
}

absl::Status ParseWindowAttribute(TextScanner* scanner, Proto* attrs) {
  return ParseWindow(scanner, attrs->mutable_window());
}
std::optional<std::string> PrintWindow(const Instruction& i) {
  if (i.attrs().window().dimensions_size() == 0) return std::nullopt;
  return WindowToString(i.attrs().window());
}

absl::Status ParseGroupsAttribute(TextScanner* scanner, Proto* attrs) {
  return ParseDeviceGroups(scanner, attrs);
}
std::optional<std::string> PrintGroups(const Instruction& i) { return DeviceGroupsToString(i.attrs()); }

std::optional<std::string> PrintChannel(const Instruction& i) {
  const int64_t channel = i.attrs().channel_id() != 0 ? i.attrs().channel_id() : i.attrs().all_reduce_id();
  if (channel <= 0) return std::nullopt;
  return absl::StrCat(channel);
}
absl::Status ParseChannel(TextScanner* scanner, Proto* attrs) {
  ASSIGN_OR_RETURN(const int64_t channel, scanner->Integer());
  attrs->set_channel_id(channel);
  return absl::OkStatus();
}

// A count that defaults to 1.
std::optional<std::string> PrintCount(int64_t count) {
  if (count == 0 || count == 1) return std::nullopt;
  return absl::StrCat(count);
}

absl::Status ParsePaddingAttribute(TextScanner* scanner, Proto* attrs) {
  return ParsePadding(scanner, attrs->mutable_padding_config());
}
std::optional<std::string> PrintPadding(const Instruction& i) {
  return PaddingToString(i.attrs().padding_config());
}

absl::Status ParseSliceAttribute(TextScanner* scanner, Proto* attrs) {
  return ParseSlice(scanner, attrs->mutable_slice_dimensions());
}
std::optional<std::string> PrintSlice(const Instruction& i) {
  return SliceToString(i.attrs().slice_dimensions());
}

// ---- The table --------------------------------------------------------------------------------------------

constexpr bool kRequired = true;
using Form = AttributeForm;
constexpr auto kAlways = AttributeShown::kAlways;
constexpr auto kIfSet = AttributeShown::kIfSet;
constexpr auto kNever = AttributeShown::kNever;

const AttributeRow kTable[] = {
    // Data movement.
    {"dimensions", kDimensions, Form::kIntList, kAlways, kRequired, "dimensions"},
    {"dimensions", kOptionalDimensions, Form::kIntList, kIfSet, false, "dimensions"},
    {"inferred_dimension", kInferredDimension, Form::kOneInt, kIfSet, false, "dimensions"},
    {"iota_dimension", kIotaDimension, Form::kOneInt, kIfSet, kRequired, "dimensions"},
    {"slice", kSliceDimensions, Form::kSpecial, kAlways, kRequired, "", 0, ParseSliceAttribute, PrintSlice},
    {"dynamic_slice_sizes", kDynamicSliceSizes, Form::kIntList, kAlways, kRequired, "dynamic_slice_sizes"},
    {"padding", kPaddingConfig, Form::kSpecial, kAlways, kRequired, "", 0, ParsePaddingAttribute,
     PrintPadding},
    {"direction", kComparison, Form::kWord, kAlways, kRequired, "comparison_direction"},
    {"type", kComparison, Form::kWord, kIfSet, false, "comparison_type"},
    {"index", kTupleIndex, Form::kInt, kAlways, kRequired, "tuple_index"},
    {"parameter_replication", kParameterReplication, Form::kBoolList, kIfSet, false,
     "parameter_replication.replicated_at_leaf_buffers"},
    {"exponent_bits", kExponentBits, Form::kInt, kAlways, kRequired, "exponent_bits"},
    {"mantissa_bits", kMantissaBits, Form::kInt, kAlways, kRequired, "mantissa_bits"},
    {"result_accuracy", kResultAccuracy, Form::kSpecial, kIfSet, false, "", 0,
     [](TextScanner* scanner, Proto* attrs) {
       return ParseResultAccuracy(scanner, attrs->mutable_result_accuracy());
     },
     [](const Instruction& i) -> std::optional<std::string> {
       const xla::ResultAccuracy& accuracy = i.attrs().result_accuracy();
       if (accuracy.specs_case() == xla::ResultAccuracy::SPECS_NOT_SET) return std::nullopt;
       return ResultAccuracyToString(accuracy);
     }},
    {"domain", kDomainShardings, Form::kSpecial, kAlways, kRequired, "", 0,
     [](TextScanner* scanner, Proto* attrs) { return ParseDomain(scanner, attrs); },
     [](const Instruction& i) -> std::optional<std::string> { return DomainToString(i.attrs()); }},
    // Gather and scatter.
    {"offset_dims", kGatherDimensions, Form::kIntList, kAlways, kRequired,
     "gather_dimension_numbers.offset_dims"},
    {"collapsed_slice_dims", kGatherDimensions, Form::kIntList, kAlways, kRequired,
     "gather_dimension_numbers.collapsed_slice_dims"},
    {"start_index_map", kGatherDimensions, Form::kIntList, kAlways, kRequired,
     "gather_dimension_numbers.start_index_map"},
    {"operand_batching_dims", kGatherDimensions, Form::kIntList, kIfSet, false,
     "gather_dimension_numbers.operand_batching_dims"},
    {"start_indices_batching_dims", kGatherDimensions, Form::kIntList, kIfSet, false,
     "gather_dimension_numbers.start_indices_batching_dims"},
    {"index_vector_dim", kGatherDimensions, Form::kInt, kAlways, kRequired,
     "gather_dimension_numbers.index_vector_dim"},
    {"slice_sizes", kGatherDimensions, Form::kIntList, kAlways, kRequired, "gather_slice_sizes"},
    {"update_window_dims", kScatterDimensions, Form::kIntList, kAlways, kRequired,
     "scatter_dimension_numbers.update_window_dims"},
    {"inserted_window_dims", kScatterDimensions, Form::kIntList, kAlways, kRequired,
     "scatter_dimension_numbers.inserted_window_dims"},
    {"scatter_dims_to_operand_dims", kScatterDimensions, Form::kIntList, kAlways, kRequired,
     "scatter_dimension_numbers.scatter_dims_to_operand_dims"},
    {"input_batching_dims", kScatterDimensions, Form::kIntList, kIfSet, false,
     "scatter_dimension_numbers.input_batching_dims"},
    {"scatter_indices_batching_dims", kScatterDimensions, Form::kIntList, kIfSet, false,
     "scatter_dimension_numbers.scatter_indices_batching_dims"},
    {"index_vector_dim", kScatterDimensions, Form::kInt, kAlways, kRequired,
     "scatter_dimension_numbers.index_vector_dim"},
    {"indices_are_sorted", kIndicesAreSorted, Form::kBool, kIfSet, false, "indices_are_sorted"},
    {"unique_indices", kUniqueIndices, Form::kBool, kIfSet, false, "unique_indices"},
    // Contraction and convolution.
    {"lhs_batch_dims", kDotDimensions, Form::kIntList, kIfSet, false,
     "dot_dimension_numbers.lhs_batch_dimensions"},
    {"lhs_contracting_dims", kDotDimensions, Form::kIntList, kIfSet, false,
     "dot_dimension_numbers.lhs_contracting_dimensions"},
    {"rhs_batch_dims", kDotDimensions, Form::kIntList, kIfSet, false,
     "dot_dimension_numbers.rhs_batch_dimensions"},
    {"rhs_contracting_dims", kDotDimensions, Form::kIntList, kIfSet, false,
     "dot_dimension_numbers.rhs_contracting_dimensions"},
    {"lhs_batch_dims", kRaggedDotDimensions, Form::kIntList, kIfSet, false,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_batch_dimensions"},
    {"lhs_contracting_dims", kRaggedDotDimensions, Form::kIntList, kIfSet, false,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_contracting_dimensions"},
    {"rhs_batch_dims", kRaggedDotDimensions, Form::kIntList, kIfSet, false,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_batch_dimensions"},
    {"rhs_contracting_dims", kRaggedDotDimensions, Form::kIntList, kIfSet, false,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_contracting_dimensions"},
    {"lhs_ragged_dims", kRaggedDotDimensions, Form::kIntList, kAlways, kRequired,
     "ragged_dot_dimension_numbers.lhs_ragged_dimensions"},
    {"rhs_group_dims", kRaggedDotDimensions, Form::kIntList, kIfSet, false,
     "ragged_dot_dimension_numbers.rhs_group_dimensions"},
    {"sparsity", kDotDimensions, Form::kIgnored},
    {"window", kWindow, Form::kSpecial, kIfSet, false, "", 0, ParseWindowAttribute, PrintWindow},
    {"dim_labels", kDimLabels, Form::kSpecial, kIfSet, false, "", 0, ParseDimLabelsAttribute, PrintDimLabels},
    {"feature_group_count", kGroupCounts, Form::kInt, kIfSet, false, "feature_group_count", 0, nullptr,
     [](const Instruction& i) { return PrintCount(i.attrs().feature_group_count()); }},
    {"batch_group_count", kGroupCounts, Form::kInt, kIfSet, false, "batch_group_count", 0, nullptr,
     [](const Instruction& i) { return PrintCount(i.attrs().batch_group_count()); }},
    {"operand_precision", kPrecision, Form::kSpecial, kIfSet, false, "", 0, ParseOperandPrecision,
     PrintOperandPrecision},
    {"algorithm", kPrecision, Form::kSpecial, kIfSet, false, "", 0, ParseAlgorithm, PrintAlgorithm},
    {"convolution_kind", kConvolutionKind, Form::kSpecial, kIfSet, false, "", 0, ParseConvolutionKind,
     PrintConvolutionKind},
    {"sparsity_config", kSparsityConfig, Form::kSpecial, kIfSet, false, "", 0,
     [](TextScanner* scanner, Proto* attrs) {
       return ParseSparsityConfig(scanner, attrs->mutable_sparsity_config());
     },
     [](const Instruction& i) -> std::optional<std::string> {
       const xla::SparsityConfig& config = i.attrs().sparsity_config();
       if (!config.has_lhs() && !config.has_rhs()) return std::nullopt;
       return SparsityConfigToString(config);
     }},
    // Reduction, sorting.
    {"is_stable", kIsStable | kTopKOptions, Form::kBool, kIfSet, false, "is_stable"},
    {"k", kTopKOptions, Form::kInt, kAlways, kRequired, "k"},
    {"largest", kTopKOptions, Form::kBool, kAlways, false, "largest"},
    {"num_carries", kScanOptions, Form::kInt, kIfSet, false, "num_carries"},
    {"is_reverse", kScanOptions, Form::kBool, kIfSet, false, "is_reverse"},
    {"is_associative", kScanOptions, Form::kSpecial, kIfSet, false, "", 0, ParseAssociative,
     PrintAssociative},
    {"select", kSelectScatter, Form::kCallee, kAlways, kRequired, "", 0},
    {"scatter", kSelectScatter, Form::kCallee, kAlways, kRequired, "", 1},
    // Normalization, FFT, linear algebra, random numbers.
    {"epsilon", kBatchNormOptions, Form::kFloat, kAlways, kRequired, "epsilon"},
    {"feature_index", kBatchNormOptions, Form::kInt, kAlways, kRequired, "feature_index"},
    {"fft_type", kFftOptions, Form::kEnum, kAlways, kRequired, "fft_type"},
    {"fft_length", kFftOptions, Form::kIntList, kAlways, kRequired, "fft_length"},
    {"lower", kCholeskyOptions, Form::kBool, kIfSet, false, "cholesky_options.lower"},
    {"left_side", kTriangularSolveOptions, Form::kBool, kIfSet, false, "triangular_solve_options.left_side"},
    {"lower", kTriangularSolveOptions, Form::kBool, kIfSet, false, "triangular_solve_options.lower"},
    {"unit_diagonal", kTriangularSolveOptions, Form::kBool, kIfSet, false,
     "triangular_solve_options.unit_diagonal"},
    {"transpose_a", kTriangularSolveOptions, Form::kEnum, kIfSet, false,
     "triangular_solve_options.transpose_a"},
    {"distribution", kDistribution, Form::kLowerEnum, kAlways, kRequired, "distribution"},
    {"algorithm", kRngAlgorithm, Form::kLowerEnum, kAlways, kRequired, "rng_algorithm"},
    {"delta", kDelta, Form::kInt, kAlways, kRequired, "delta"},
    // Collectives.
    {"channel_id", kDeviceGroups | kSourceTargetPairs | kChannel, Form::kSpecial, kIfSet, false, "", 0,
     ParseChannel, PrintChannel},
    {"replica_groups", kDeviceGroups, Form::kSpecial, kAlways, false, "", 0, ParseGroupsAttribute,
     PrintGroups},
    {"use_global_device_ids", kGlobalIds, Form::kBool, kIfSet, false, "use_global_device_ids"},
    {"constrain_layout", kConstrainLayout, Form::kBool, kIfSet, false, "constrain_layout"},
    {"mode", kConstrainLayout, Form::kIgnored},
    {"source_target_pairs", kSourceTargetPairs, Form::kSpecial, kAlways, kRequired, "", 0, ParseSourceTargets,
     PrintSourceTargets},
    {"slice_sizes", kSourceTargetPairs, Form::kSpecial, kIfSet, false, "dynamic_slice_sizes", 0,
     ParsePermuteSlices, PrintPermuteSlices},
    {"is_host_transfer", kChannel, Form::kBool, kIfSet, false, "is_host_transfer"},
    // Calls.
    {"to_apply", kToApply, Form::kCallee, kAlways, kRequired, "", 0},
    {"is_composite", kIsComposite, Form::kBool, kIfSet, false, "is_composite"},
    {"kind", kFusionOptions, Form::kWord, kAlways, kRequired, "fusion_kind"},
    {"calls", kFusionOptions, Form::kCallee, kAlways, kRequired, "", 0},
    {"condition", kConditionBody, Form::kCallee, kAlways, kRequired, "", 1},
    {"body", kConditionBody, Form::kCallee, kAlways, kRequired, "", 0},
    {"true_computation", kBranches, Form::kCallee, kAlways, false, "", 0},
    {"false_computation", kBranches, Form::kCallee, kAlways, false, "", 1},
    {"branch_computations", kBranches, Form::kCallees, kAlways, false},
    {"calls", kAsyncOptions, Form::kCallee, kAlways, false, "", 0},
    {"async_execution_thread", kAsyncOptions, Form::kQuoted, kIfSet, false, "async_execution_thread"},
    {"async_group_id", kAsyncOptions, Form::kIgnored},
    // Custom calls.
    {"custom_call_target", kCustomCallOptions, Form::kQuoted, kAlways, kRequired, "custom_call_target"},
    {"operand_layout_constraints", kCustomCallOptions, Form::kSpecial, kIfSet, false, "", 0,
     ParseLayoutConstraints, PrintLayoutConstraints},
    {"custom_call_has_side_effect", kCustomCallOptions, Form::kBool, kIfSet, false,
     "custom_call_has_side_effect"},
    {"api_version", kCustomCallOptions, Form::kEnum, kAlways, false, "custom_call_api_version"},
    {"schedule", kCustomCallOptions, Form::kEnum, kIfSet, false, "custom_call_schedule"},
    {"padding_type", kCustomCallOptions, Form::kEnum, kIfSet, false, "padding_type"},
    {"literal", kCustomCallOptions, Form::kSpecial, kIfSet, false, "", 0, ParseCallLiteral, PrintCallLiteral},
    {"to_apply", kCustomCallOptions, Form::kCallee, kNever, false, "", 0},
    {"called_computations", kCustomCallOptions, Form::kCallees, kIfSet, false},
    {"output_to_operand_aliasing", kOutputAliasing, Form::kSpecial, kIfSet, false, "", 0,
     [](TextScanner* scanner, Proto* attrs) {
       return ParseOutputAliasing(scanner, attrs->mutable_output_operand_aliasing());
     },
     [](const Instruction& i) -> std::optional<std::string> {
       if (i.attrs().output_operand_aliasing_size() == 0) return std::nullopt;
       return OutputAliasingToString(i.attrs().output_operand_aliasing());
     }},
    // Transfer.
    {"infeed_config", kInfeedConfig, Form::kQuoted, kIfSet, false, "infeed_config"},
    {"outfeed_config", kOutfeedConfig, Form::kQuoted, kIfSet, false, "outfeed_config"},
    {"outfeed_shape", kOutfeedConfig, Form::kSpecial, kIfSet, false, "", 0, ParseOutfeedShape,
     PrintOutfeedShape},
    {"cross_program_prefetch_index", kPrefetchIndex, Form::kSpecial, kIfSet, false,
     "cross_program_prefetch_index", 0, ParsePrefetchIndex, PrintPrefetchIndex},
    {"outer_dimension_partitions", kAnyOpcode, Form::kIgnored},
};

}  // namespace

absl::Span<const AttributeRow> AttributeTable() { return kTable; }

}  // namespace toroid
