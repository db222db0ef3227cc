#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"
#include "hlo/stablehlo/write/attribute_texts.h"

namespace toroid {
namespace {

std::string Precision(const Instruction& op) {
  const auto& config = op.attrs().precision_config();
  std::vector<std::string> words;
  for (int i = 0; i < 2; ++i) {
    const auto precision = i < config.operand_precision_size()
                               ? static_cast<xla::PrecisionConfig::Precision>(config.operand_precision(i))
                               : xla::PrecisionConfig::DEFAULT;
    words.push_back(
        absl::StrCat("#stablehlo<precision ", xla::PrecisionConfig::Precision_Name(precision), ">"));
  }
  return absl::StrCat("precision_config = ", List(words));
}

// ALG_DOT_BF16_BF16_F32_X3 is <lhs_precision_type = bf16, .., accumulation_type = f32, .., num_primitive_operations = 3, ..>.
std::string Algorithm(const Instruction& op) {
  const auto algorithm = op.attrs().precision_config().algorithm();
  if (algorithm == xla::PrecisionConfig::ALG_UNSET) return "";
  const std::string name = xla::PrecisionConfig::Algorithm_Name(algorithm);
  std::string lhs, rhs, sum, count = "1";
  if (absl::StartsWith(name, "ALG_DOT_ANY_F8")) {
    lhs = MlirElementType(op.operand(0)->shape().element_type());
    rhs = MlirElementType(op.operand(1)->shape().element_type());
    sum = "f32";
  } else {
    const std::vector<std::string> words = absl::StrSplit(absl::StripPrefix(name, "ALG_DOT_"), '_');
    lhs = absl::AsciiStrToLower(words[0]);
    rhs = absl::AsciiStrToLower(words[1]);
    sum = absl::AsciiStrToLower(words[2]);
    if (words.size() > 3) count = words[3].substr(1);
  }
  return absl::StrCat(
      "algorithm = #stablehlo.dot_algorithm<lhs_precision_type = ", lhs, ", rhs_precision_type = ", rhs,
      ", accumulation_type = ", sum,
      ", lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = ", count,
      ", allow_imprecise_accumulation = ", absl::EndsWith(name, "_FAST_ACCUM") ? "true" : "false", ">");
}

std::string DotNumbers(const DotView& dot) {
  return absl::StrCat("lhs_batching_dimensions = ", List(dot.lhs_batch()),
                      ", rhs_batching_dimensions = ", List(dot.rhs_batch()),
                      ", lhs_contracting_dimensions = ", List(dot.lhs_contracting()),
                      ", rhs_contracting_dimensions = ", List(dot.rhs_contracting()));
}

// The dimensions of an array by letter: batch and feature, or input and output feature, and the spatial ones by number.
std::string Labels(char first, int64_t first_at, char second, int64_t second_at,
                   absl::Span<const int64_t> spatial) {
  std::vector<std::string> labels(spatial.size() + 2);
  labels[first_at] = first;
  labels[second_at] = second;
  for (size_t i = 0; i < spatial.size(); ++i) labels[spatial[i]] = absl::StrCat(i);
  return List(labels);
}

}  // namespace

Text DotText(const Instruction& op) {
  if (op.num_operands() != 2) return absl::InvalidArgumentError("StableHLO has no sparse products");
  return Join(Algorithm(op),
              absl::StrCat("dot_dimension_numbers = #stablehlo.dot<", DotNumbers(DotView(op)), ">"),
              Precision(op));
}

Text ConvolutionText(const Instruction& op) {
  const ConvolutionView conv(op);
  const WindowView window(op);
  std::vector<std::string> reversal;
  for (const WindowDim& dim : window.dimensions()) reversal.push_back(dim.reversed ? "true" : "false");
  return absl::StrCat(
      Integer("batch_group_count", conv.batch_groups()), ", dimension_numbers = #stablehlo.conv<",
      Labels('b', conv.input_batch(), 'f', conv.input_feature(), conv.input_spatial()), "x",
      Labels('i', conv.kernel_input_feature(), 'o', conv.kernel_output_feature(), conv.kernel_spatial()),
      "->", Labels('b', conv.output_batch(), 'f', conv.output_feature(), conv.output_spatial()), ">, ",
      Integer("feature_group_count", conv.feature_groups()),
      ", lhs_dilation = ", Array(OfWindow(window, &WindowDim::base_dilation)), ", ", Padding(window), ", ",
      Precision(op), ", rhs_dilation = ", Array(OfWindow(window, &WindowDim::window_dilation)),
      ", window_reversal = array<i1", reversal.empty() ? "" : ": ", absl::StrJoin(reversal, ", "),
      ">, window_strides = ", Array(OfWindow(window, &WindowDim::stride)));
}

}  // namespace toroid
