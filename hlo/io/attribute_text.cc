#include "hlo/io/attribute_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "google/protobuf/descriptor.h"
#include "hlo/io/attribute_values.h"
#include "hlo/io/device_groups_text.h"
#include "hlo/io/literal_text.h"
#include "hlo/io/metadata_text.h"
#include "hlo/io/shape_text.h"

namespace toroid {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Proto = xla::HloInstructionProto;

// How a value is spelled. All but kCallee, kCallees, kSpecial and kIgnored are stored in the field at `path`.
enum class Form {
  kInt,
  kBool,
  kFloat,
  kIntList,    // {1,2}
  kBoolList,   // {true,false}
  kOneInt,     // 1, stored as a list of one
  kWord,       // string field, no quotes
  kQuoted,     // string or bytes field, in quotes
  kEnum,       // name of the enumerator
  kLowerEnum,  // the same in lower case
  kCallee,     // a computation, at `slot` of the called ones
  kCallees,    // {a, b}
  kSpecial,    // parse() and print()
  kIgnored,    // read and dropped
};

enum class Shown {
  kAlways,
  kIfSet,  // If it differs from the default of its field.
  kNever,
};

struct Row {
  absl::string_view key;
  uint64_t attributes;
  Form form;
  Shown shown = Shown::kIfSet;
  bool required = false;
  absl::string_view path = "";
  int slot = 0;
  absl::Status (*parse)(AttributeParser*) = nullptr;
  // Text of the value; nullopt if there is nothing to print.
  std::optional<std::string> (*print)(const Instruction&) = nullptr;
};

// ---- Attributes with a spelling of their own
// ------------------------------------------------------------------

absl::Status ParseSourceTargets(AttributeParser* p) {
  return ParsePairs(p->scanner(), p->attrs()->mutable_source_target_pairs());
}
std::optional<std::string> PrintSourceTargets(const Instruction& i) {
  return PairsToString(i.attrs().source_target_pairs());
}

absl::Status ParsePermuteSlices(AttributeParser* p) {
  return p->scanner()->List("{", "}", [p]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, p->scanner()->IntegerList());
    p->attrs()->mutable_dynamic_slice_sizes()->Add(sizes.begin(), sizes.end());
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

absl::Status ParseOperandPrecision(AttributeParser* p) {
  return p->scanner()->List("{", "}", [p]() -> absl::Status {
    ASSIGN_OR_RETURN(const absl::string_view word, p->scanner()->Word("default, high or highest"));
    xla::PrecisionConfig::Precision precision = xla::PrecisionConfig::DEFAULT;
    if (word != "packed_nibble" &&
        !xla::PrecisionConfig::Precision_Parse(absl::AsciiStrToUpper(word), &precision)) {
      return p->scanner()->Error("expected default, high or highest before this");
    }
    p->attrs()->mutable_precision_config()->add_operand_precision(precision);
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
                                      const std::string& name = xla::PrecisionConfig::Precision_Name(
                                          static_cast<xla::PrecisionConfig::Precision>(precision));
                                      s->append(name.empty() ? "default" : absl::AsciiStrToLower(name));
                                    }),
                      "}");
}

absl::Status ParseAlgorithm(AttributeParser* p) {
  ASSIGN_OR_RETURN(const absl::string_view word, p->scanner()->Word("an algorithm"));
  xla::PrecisionConfig::Algorithm algorithm;
  if (!xla::PrecisionConfig::Algorithm_Parse(absl::StrCat("ALG_", absl::AsciiStrToUpper(word)), &algorithm)) {
    return p->scanner()->Error("unknown dot algorithm before this");
  }
  p->attrs()->mutable_precision_config()->set_algorithm(algorithm);
  return absl::OkStatus();
}
std::optional<std::string> PrintAlgorithm(const Instruction& i) {
  const std::string& name = xla::PrecisionConfig::Algorithm_Name(i.attrs().precision_config().algorithm());
  if (name.empty() || i.attrs().precision_config().algorithm() == 0) return std::nullopt;
  return absl::AsciiStrToLower(absl::StripPrefix(name, "ALG_"));
}

absl::Status ParseConvolutionKind(AttributeParser* p) {
  ASSIGN_OR_RETURN(const absl::string_view word, p->scanner()->Word("fprop, dgrad, wgrad or unset"));
  xla::ConvolutionKind kind;
  if (!xla::ConvolutionKind_Parse(absl::StrCat("CONVOLUTION_KIND_", absl::AsciiStrToUpper(word)), &kind)) {
    return p->scanner()->Error("expected fprop, dgrad, wgrad or unset before this");
  }
  p->attrs()->set_conv_kind(kind);
  return absl::OkStatus();
}
std::optional<std::string> PrintConvolutionKind(const Instruction& i) {
  const std::string& name = xla::ConvolutionKind_Name(i.attrs().conv_kind());
  if (name.empty() || i.attrs().conv_kind() == 0) return std::nullopt;
  return absl::AsciiStrToLower(absl::StripPrefix(name, "CONVOLUTION_KIND_"));
}

absl::Status ParseAssociative(AttributeParser* p) {
  ASSIGN_OR_RETURN(const bool value, p->scanner()->Boolean());
  p->attrs()->set_is_associative(value ? xla::TRI_STATE_TRUE : xla::TRI_STATE_FALSE);
  return absl::OkStatus();
}
std::optional<std::string> PrintAssociative(const Instruction& i) {
  if (i.attrs().is_associative() == xla::TRI_STATE_UNSPECIFIED) return std::nullopt;
  return i.attrs().is_associative() == xla::TRI_STATE_TRUE ? "true" : "false";
}

absl::Status ParseLayoutConstraints(AttributeParser* p) {
  p->attrs()->set_constrain_layout(true);
  return p->scanner()->List("{", "}", [p]() -> absl::Status {
    ASSIGN_OR_RETURN(const Shape shape, ParseShape(p->scanner()));
    shape.ToProto(p->attrs()->add_operand_shapes_with_layout());
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

absl::Status ParseCallLiteral(AttributeParser* p) {
  ASSIGN_OR_RETURN(const Shape shape, ParseShape(p->scanner()));
  ASSIGN_OR_RETURN(const std::optional<Literal> literal, ParseLiteral(shape, p->scanner()));
  if (literal) literal->ToProto(p->attrs()->mutable_literal());
  return absl::OkStatus();
}
std::optional<std::string> PrintCallLiteral(const Instruction& i) {
  if (!i.attrs().has_literal()) return std::nullopt;
  const absl::StatusOr<Literal> literal = Literal::FromProto(i.attrs().literal());
  if (!literal.ok()) return std::nullopt;
  std::string out = absl::StrCat(literal->shape().ToString(/*with_layout=*/true), " ");
  AppendLiteral(*literal, &out);
  return out;
}

absl::Status ParseOutfeedShape(AttributeParser* p) {
  ASSIGN_OR_RETURN(const Shape shape, ParseShape(p->scanner()));
  shape.ToProto(p->attrs()->mutable_outfeed_shape());
  return absl::OkStatus();
}
std::optional<std::string> PrintOutfeedShape(const Instruction& i) {
  const absl::StatusOr<Shape> shape = Shape::FromProto(i.attrs().outfeed_shape());
  if (!i.attrs().has_outfeed_shape() || !shape.ok()) return std::nullopt;
  return shape->ToString(/*with_layout=*/true);
}

absl::Status ParseDimLabelsAttribute(AttributeParser* p) {
  return ParseDimLabels(p->scanner(), p->attrs()->mutable_convolution_dimension_numbers());
}
std::optional<std::string> PrintDimLabels(const Instruction& i) {
  if (!i.attrs().has_convolution_dimension_numbers()) return std::nullopt;
  const auto rank = [&](int operand) {
    return operand < i.num_operands() ? i.operand(operand)->shape().rank() : 0;
  };
  return DimLabelsToString(i.attrs().convolution_dimension_numbers(), rank(0), rank(1), i.shape().rank());
}

absl::Status ParseWindowAttribute(AttributeParser* p) {
  return ParseWindow(p->scanner(), p->attrs()->mutable_window());
}
std::optional<std::string> PrintWindow(const Instruction& i) {
  if (i.attrs().window().dimensions_size() == 0) return std::nullopt;
  return WindowToString(i.attrs().window());
}

absl::Status ParseGroupsAttribute(AttributeParser* p) { return ParseDeviceGroups(p->scanner(), p->attrs()); }
std::optional<std::string> PrintGroups(const Instruction& i) { return DeviceGroupsToString(i.attrs()); }

std::optional<std::string> PrintChannel(const Instruction& i) {
  const int64_t channel = i.attrs().channel_id() != 0 ? i.attrs().channel_id() : i.attrs().all_reduce_id();
  if (channel <= 0) return std::nullopt;
  return absl::StrCat(channel);
}
absl::Status ParseChannel(AttributeParser* p) {
  ASSIGN_OR_RETURN(const int64_t channel, p->scanner()->Integer());
  p->attrs()->set_channel_id(channel);
  return absl::OkStatus();
}

// A count that defaults to 1.
std::optional<std::string> PrintCount(int64_t count) {
  if (count == 0 || count == 1) return std::nullopt;
  return absl::StrCat(count);
}

absl::Status ParsePaddingAttribute(AttributeParser* p) {
  return ParsePadding(p->scanner(), p->attrs()->mutable_padding_config());
}
std::optional<std::string> PrintPadding(const Instruction& i) {
  return PaddingToString(i.attrs().padding_config());
}

absl::Status ParseSliceAttribute(AttributeParser* p) {
  return ParseSlice(p->scanner(), p->attrs()->mutable_slice_dimensions());
}
std::optional<std::string> PrintSlice(const Instruction& i) {
  return SliceToString(i.attrs().slice_dimensions());
}

// ---- The table
// ------------------------------------------------------------------------------------------------

constexpr uint64_t kAll = ~uint64_t{0};
constexpr bool kRequired = true;
constexpr auto kAlways = Shown::kAlways;
constexpr auto kIfSet = Shown::kIfSet;
constexpr auto kNever = Shown::kNever;

const Row kTable[] = {
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
     [](AttributeParser* p) {
       return ParseResultAccuracy(p->scanner(), p->attrs()->mutable_result_accuracy());
     },
     [](const Instruction& i) -> std::optional<std::string> {
       const xla::ResultAccuracy& accuracy = i.attrs().result_accuracy();
       if (accuracy.specs_case() == xla::ResultAccuracy::SPECS_NOT_SET) return std::nullopt;
       return ResultAccuracyToString(accuracy);
     }},
    {"domain", kDomainShardings, Form::kSpecial, kAlways, kRequired, "", 0,
     [](AttributeParser* p) { return ParseDomain(p->scanner(), p->attrs()); },
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
     [](AttributeParser* p) {
       return ParseSparsityConfig(p->scanner(), p->attrs()->mutable_sparsity_config());
     },
     [](const Instruction& i) -> std::optional<std::string> {
       const xla::SparsityConfig& config = i.attrs().sparsity_config();
       if (!config.has_lhs() && !config.has_rhs()) return std::nullopt;
       return SparsityConfigToString(config);
     }},
    // Reduction, sorting.
    {"is_stable", kIsStable, Form::kBool, kIfSet, false, "is_stable"},
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
    {"slice_sizes", kSourceTargetPairs, Form::kSpecial, kIfSet, false, "", 0, ParsePermuteSlices,
     PrintPermuteSlices},
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
     [](AttributeParser* p) {
       return ParseOutputAliasing(p->scanner(), p->attrs()->mutable_output_operand_aliasing());
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
    {"cross_program_prefetch_index", kPrefetchIndex, Form::kInt, kIfSet, false,
     "cross_program_prefetch_index"},
    {"outer_dimension_partitions", kAll, Form::kIgnored},
};

// ---- Fields by path
// -------------------------------------------------------------------------------------------

// The fields a path leads through, looked up once per row.
const std::vector<const FieldDescriptor*>& FieldsOf(const Row& row) {
  static const auto* const kFields = [] {
    auto* all = new std::vector<std::vector<const FieldDescriptor*>>(std::size(kTable));
    for (size_t i = 0; i < std::size(kTable); ++i) {
      if (kTable[i].path.empty()) continue;
      const google::protobuf::Descriptor* message = Proto::descriptor();
      for (const absl::string_view name : absl::StrSplit(kTable[i].path, '.')) {
        const FieldDescriptor* field = message->FindFieldByName(std::string(name));
        TOROID_CHECK(field != nullptr, kTable[i].path);
        (*all)[i].push_back(field);
        message = field->message_type();
      }
    }
    return all;
  }();
  return (*kFields)[&row - kTable];
}

Message* MutableParent(const Row& row, Message* message) {
  const auto& fields = FieldsOf(row);
  for (size_t i = 0; i + 1 < fields.size(); ++i) {
    message = message->GetReflection()->MutableMessage(message, fields[i]);
  }
  return message;
}

const Message& Parent(const Row& row, const Message& message) {
  const auto& fields = FieldsOf(row);
  const Message* parent = &message;
  for (size_t i = 0; i + 1 < fields.size(); ++i)
    parent = &parent->GetReflection()->GetMessage(*parent, fields[i]);
  return *parent;
}

bool IsSet(const Message& message, const FieldDescriptor* field) {
  return field->is_repeated() ? message.GetReflection()->FieldSize(message, field) > 0
                              : message.GetReflection()->HasField(message, field);
}

absl::Status ParseEnum(TextScanner* scanner, bool lower, const FieldDescriptor* field, Message* message) {
  const size_t begin = scanner->Position();
  ASSIGN_OR_RETURN(const absl::string_view word, scanner->Word("a name"));
  const std::string name = lower ? absl::AsciiStrToUpper(word) : std::string(word);
  const google::protobuf::EnumValueDescriptor* value = field->enum_type()->FindValueByName(name);
  if (value == nullptr) {
    std::vector<std::string> names;
    for (int i = 0; i < field->enum_type()->value_count(); ++i) {
      const std::string& known = field->enum_type()->value(i)->name();
      names.push_back(lower ? absl::AsciiStrToLower(known) : known);
    }
    return scanner->ErrorAt(begin, absl::StrCat("expected one of ", absl::StrJoin(names, ", ")));
  }
  message->GetReflection()->SetEnum(message, field, value);
  return absl::OkStatus();
}

absl::Status ParseField(const Row& row, TextScanner* scanner, Proto* attrs) {
  Message* message = MutableParent(row, attrs);
  const FieldDescriptor* field = FieldsOf(row).back();
  const google::protobuf::Reflection* reflection = message->GetReflection();
  switch (row.form) {
    case Form::kInt: {
      const size_t begin = scanner->Position();
      ASSIGN_OR_RETURN(const int64_t value, scanner->Integer());
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
        reflection->SetInt64(message, field, value);
      } else if (value != static_cast<int32_t>(value)) {
        return scanner->ErrorAt(begin, "integer out of range");
      } else {
        reflection->SetInt32(message, field, static_cast<int32_t>(value));
      }
      return absl::OkStatus();
    }
    case Form::kOneInt: {
      ASSIGN_OR_RETURN(const int64_t value, scanner->Integer());
      reflection->AddInt64(message, field, value);
      return absl::OkStatus();
    }
    case Form::kBool: {
      ASSIGN_OR_RETURN(const bool value, scanner->Boolean());
      reflection->SetBool(message, field, value);
      return absl::OkStatus();
    }
    case Form::kFloat: {
      ASSIGN_OR_RETURN(const double value, scanner->Decimal());
      reflection->SetFloat(message, field, static_cast<float>(value));
      return absl::OkStatus();
    }
    case Form::kIntList: {
      ASSIGN_OR_RETURN(const std::vector<int64_t> values, scanner->IntegerList());
      for (const int64_t value : values) reflection->AddInt64(message, field, value);
      return absl::OkStatus();
    }
    case Form::kBoolList:
      return scanner->List("{", "}", [&]() -> absl::Status {
        ASSIGN_OR_RETURN(const bool value, scanner->Boolean());
        reflection->AddBool(message, field, value);
        return absl::OkStatus();
      });
    case Form::kWord: {
      ASSIGN_OR_RETURN(const absl::string_view word, scanner->Word("a word"));
      reflection->SetString(message, field, std::string(word));
      return absl::OkStatus();
    }
    case Form::kQuoted: {
      ASSIGN_OR_RETURN(std::string value, scanner->String());
      reflection->SetString(message, field, std::move(value));
      return absl::OkStatus();
    }
    default:
      return ParseEnum(scanner, row.form == Form::kLowerEnum, field, message);
  }
}

std::string PrintField(const Row& row, const Proto& attrs) {
  const Message& message = Parent(row, attrs);
  const FieldDescriptor* field = FieldsOf(row).back();
  const google::protobuf::Reflection* reflection = message.GetReflection();
  switch (row.form) {
    case Form::kInt:
      return field->cpp_type() == FieldDescriptor::CPPTYPE_INT64
                 ? absl::StrCat(reflection->GetInt64(message, field))
                 : absl::StrCat(reflection->GetInt32(message, field));
    case Form::kOneInt:
      return absl::StrCat(reflection->GetRepeatedInt64(message, field, 0));
    case Form::kBool:
      return reflection->GetBool(message, field) ? "true" : "false";
    case Form::kFloat: {
      char buffer[40];
      return std::string(
          buffer, std::to_chars(buffer, buffer + sizeof(buffer), reflection->GetFloat(message, field)).ptr);
    }
    case Form::kIntList: {
      std::vector<int64_t> values;
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        values.push_back(reflection->GetRepeatedInt64(message, field, i));
      }
      return absl::StrCat("{", absl::StrJoin(values, ","), "}");
    }
    case Form::kBoolList: {
      std::vector<absl::string_view> values;
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        values.push_back(reflection->GetRepeatedBool(message, field, i) ? "true" : "false");
      }
      return absl::StrCat("{", absl::StrJoin(values, ","), "}");
    }
    case Form::kWord:
      return reflection->GetString(message, field);
    case Form::kQuoted:
      return Quoted(reflection->GetString(message, field));
    default: {
      const int number = reflection->GetEnumValue(message, field);
      const google::protobuf::EnumValueDescriptor* value = field->enum_type()->FindValueByNumber(number);
      const std::string name = value == nullptr ? field->enum_type()->value(0)->name() : value->name();
      return row.form == Form::kLowerEnum ? absl::AsciiStrToLower(name) : name;
    }
  }
}

const Row* FindRow(Opcode opcode, absl::string_view key) {
  const uint64_t attributes = opcode == Opcode::kUnknown ? kAll : OpcodeAttributes(opcode);
  for (const Row& row : kTable) {
    if (row.key == key && ((row.attributes & attributes) != 0 || row.attributes == kAll)) return &row;
  }
  return nullptr;
}

}  // namespace

// ---- Reading
// --------------------------------------------------------------------------------------------------

AttributeParser::AttributeParser(Opcode opcode, TextScanner* scanner, xla::HloInstructionProto* attrs,
                                 std::function<absl::StatusOr<Computation*>()> read_computation)
    : opcode_(opcode), scanner_(scanner), attrs_(attrs), read_computation_(std::move(read_computation)) {}

absl::Status AttributeParser::SetCalled(int slot) {
  const size_t begin = scanner_->Position();
  ASSIGN_OR_RETURN(Computation * computation, read_computation_());
  if (slot >= static_cast<int>(called_.size())) called_.resize(slot + 1, nullptr);
  if (called_[slot] != nullptr) return scanner_->ErrorAt(begin, "the computation is given twice");
  called_[slot] = computation;
  return absl::OkStatus();
}

absl::StatusOr<bool> AttributeParser::Parse(absl::string_view key) {
  const Row* row = FindRow(opcode_, key);
  if (row == nullptr) return false;
  if (std::find(seen_.begin(), seen_.end(), row) != seen_.end()) {
    return scanner_->Error(absl::StrCat("attribute ", key, " occurs twice; before this"));
  }
  seen_.push_back(row);
  switch (row->form) {
    case Form::kIgnored:
      RETURN_IF_ERROR(scanner_->SkipValue());
      break;
    case Form::kCallee:
      RETURN_IF_ERROR(SetCalled(row->slot));
      break;
    case Form::kCallees:
      RETURN_IF_ERROR(
          scanner_->List("{", "}", [this] { return SetCalled(static_cast<int>(called_.size())); }));
      break;
    case Form::kSpecial:
      RETURN_IF_ERROR(row->parse(this));
      break;
    default:
      RETURN_IF_ERROR(ParseField(*row, scanner_, attrs_));
  }
  return true;
}

absl::Status AttributeParser::Finish() {
  const uint64_t attributes = OpcodeAttributes(opcode_);
  const auto seen = [&](const Row& row) {
    return std::find(seen_.begin(), seen_.end(), &row) != seen_.end();
  };
  for (const Row& row : kTable) {
    if ((row.attributes & attributes) == 0 || row.attributes == kAll || seen(row)) continue;
    const bool optional =
        row.key == "dimensions" && (opcode_ == Opcode::kBroadcast || opcode_ == Opcode::kMap);
    if (row.required && !optional) {
      return scanner_->Error(
          absl::StrCat(OpcodeName(opcode_), " lacks the attribute ", row.key, " before this"));
    }
    if (row.key == "largest") attrs_->set_largest(true);
    if (row.key == "api_version") attrs_->set_custom_call_api_version(xla::API_VERSION_ORIGINAL);
  }
  if (attributes & kGroupCounts) {
    if (attrs_->feature_group_count() == 0) attrs_->set_feature_group_count(1);
    if (attrs_->batch_group_count() == 0) attrs_->set_batch_group_count(1);
  }
  if (std::find(called_.begin(), called_.end(), nullptr) != called_.end() ||
      (opcode_ == Opcode::kConditional && called_.empty())) {
    return scanner_->Error(absl::StrCat(OpcodeName(opcode_), " lacks a computation before this"));
  }
  return absl::OkStatus();
}

// ---- Printing
// -------------------------------------------------------------------------------------------------

namespace {

bool HasPredicateIndex(const Instruction& conditional) {
  return conditional.called().size() == 2 && conditional.num_operands() > 0 &&
         conditional.operand(0)->shape().element_type() == xla::PRED;
}

std::optional<std::string> CalleeText(const Row& row, const Instruction& instruction,
                                      const ComputationName& name_of) {
  const auto called = instruction.called();
  if ((row.attributes & kBranches) != 0 && HasPredicateIndex(instruction) != (row.form == Form::kCallee)) {
    return std::nullopt;
  }
  if ((row.attributes & kAsyncOptions) != 0 && instruction.opcode() != Opcode::kAsyncStart) {
    return std::nullopt;  // Inherited from the start.
  }
  if (row.form == Form::kCallees) {
    return absl::StrCat("{",
                        absl::StrJoin(called, ", ",
                                      [&](std::string* s, const Computation* computation) {
                                        s->append(name_of(*computation));
                                      }),
                        "}");
  }
  if (row.slot >= static_cast<int>(called.size())) return std::nullopt;
  return name_of(*called[row.slot]);
}

std::optional<std::string> AttributeValue(const Row& row, bool always, const Instruction& instruction,
                                          const ComputationName& name_of) {
  if (row.shown == Shown::kNever || row.form == Form::kIgnored) return std::nullopt;
  if (row.form == Form::kCallee || row.form == Form::kCallees) {
    if (row.shown == Shown::kIfSet && instruction.called().empty()) return std::nullopt;
    return CalleeText(row, instruction, name_of);
  }
  if (row.print != nullptr) return row.print(instruction);
  const Message& parent = Parent(row, instruction.attrs());
  if (!IsSet(parent, FieldsOf(row).back()) && (!always || row.form == Form::kOneInt)) return std::nullopt;
  if (row.key == "api_version" &&
      instruction.attrs().custom_call_api_version() == xla::API_VERSION_ORIGINAL) {
    return std::nullopt;
  }
  const std::string value = PrintField(row, instruction.attrs());
  if (value.empty()) return std::nullopt;
  return value;
}

// Attributes of an opcode that the table lacks: whatever is set, each field and key once.
void AppendUnknownAttributes(const Instruction& instruction, const ComputationName& name_of, std::string* out) {
  absl::flat_hash_set<absl::string_view> keys, paths;
  for (const Row& row : kTable) {
    const bool callee = row.form == Form::kCallee || (row.form == Form::kCallees && row.key != "called_computations");
    if (callee || row.key == "domain") continue;
    const std::optional<std::string> value = AttributeValue(row, /*always=*/false, instruction, name_of);
    if (!value || value->empty() || (row.form == Form::kSpecial && *value == "{}")) continue;
    if (!row.path.empty() && !paths.insert(row.path).second) continue;
    if (keys.insert(row.key).second) absl::StrAppend(out, ", ", row.key, "=", *value);
  }
}

}  // namespace

void AppendAttributes(const Instruction& instruction, const ComputationName& name_of, std::string* out) {
  if (instruction.opcode() == Opcode::kUnknown) return AppendUnknownAttributes(instruction, name_of, out);
  const uint64_t attributes = OpcodeAttributes(instruction.opcode());
  for (const Row& row : kTable) {
    if ((row.attributes & attributes) == 0 || row.attributes == kAll) continue;
    const std::optional<std::string> value =
        AttributeValue(row, row.shown == Shown::kAlways, instruction, name_of);
    if (value) absl::StrAppend(out, ", ", row.key, "=", *value);
  }
}

}  // namespace toroid
