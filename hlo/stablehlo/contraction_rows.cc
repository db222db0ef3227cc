#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "hlo/base/status.h"
#include "hlo/builder/einsum.h"
#include "hlo/io/text_scanner.h"
#include "hlo/stablehlo/op_rows.h"

namespace toroid {
namespace {

using xla::PrecisionConfig;

absl::Status AddPrecision(OpConversion& op, PrecisionConfig* out) {
  const MlirAttribute* config = op.Find("precision_config");
  if (config == nullptr) return absl::OkStatus();
  for (const MlirAttribute& element : config->elements) {
    PrecisionConfig::Precision precision;
    if (!PrecisionConfig::Precision_Parse(OpConversion::KeywordOf(element), &precision)) {
      return op.Error("a precision is DEFAULT, HIGH or HIGHEST");
    }
    out->add_operand_precision(precision);
  }
  return absl::OkStatus();
}

// <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, .., num_primitive_operations = 3,
// allow_imprecise_accumulation = false>
absl::Status AddAlgorithm(OpConversion& op, PrecisionConfig* out) {
  if (!op.Has("algorithm")) return absl::OkStatus();
  ASSIGN_OR_RETURN(const MlirAttribute fields, op.Struct("algorithm"));
  const auto type = [&](absl::string_view key) {
    const MlirAttribute* field = fields.Find(key);
    return field == nullptr ? std::string() : absl::AsciiStrToUpper(field->text);
  };
  ASSIGN_OR_RETURN(const int64_t products, op.IntegerOfField(fields, "num_primitive_operations", 1));
  ASSIGN_OR_RETURN(const int64_t fast, op.IntegerOfField(fields, "allow_imprecise_accumulation", 0));
  std::string lhs = type("lhs_precision_type"), rhs = type("rhs_precision_type");
  std::string name;
  if (absl::StartsWith(lhs, "F8")) {
    name = absl::StrCat("ALG_DOT_ANY_F8_ANY_F8_F32", fast != 0 ? "_FAST_ACCUM" : "");
  } else {
    name = absl::StrCat("ALG_DOT_", lhs, "_", rhs, "_", type("accumulation_type"));
    if (products > 1) absl::StrAppend(&name, "_X", products);
  }
  PrecisionConfig::Algorithm algorithm;
  if (!PrecisionConfig::Algorithm_Parse(name, &algorithm)) {
    return op.Error(absl::StrCat("HLO has no algorithm ", name));
  }
  out->set_algorithm(algorithm);
  return absl::OkStatus();
}

absl::Status ConvertDotGeneral(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(2));
  xla::HloInstructionProto* attrs = op.NewAttrs();
  auto* numbers = attrs->mutable_dot_dimension_numbers();
  ASSIGN_OR_RETURN(const MlirAttribute fields, op.Struct("dot_dimension_numbers"));
  RETURN_IF_ERROR(
      op.IntegersOfField(fields, "lhs_batching_dimensions", numbers->mutable_lhs_batch_dimensions()));
  RETURN_IF_ERROR(
      op.IntegersOfField(fields, "rhs_batching_dimensions", numbers->mutable_rhs_batch_dimensions()));
  RETURN_IF_ERROR(op.IntegersOfField(fields, "lhs_contracting_dimensions",
                                     numbers->mutable_lhs_contracting_dimensions()));
  RETURN_IF_ERROR(op.IntegersOfField(fields, "rhs_contracting_dimensions",
                                     numbers->mutable_rhs_contracting_dimensions()));
  RETURN_IF_ERROR(AddPrecision(op, attrs->mutable_precision_config()));
  RETURN_IF_ERROR(AddAlgorithm(op, attrs->mutable_precision_config()));
  return op.Finish(Opcode::kDot, attrs);
}

// The last dimension of the left operand against the first of the right one.
absl::Status ConvertDot(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(2));
  xla::HloInstructionProto* attrs = op.NewAttrs();
  auto* numbers = attrs->mutable_dot_dimension_numbers();
  if (op.operand(0)->shape().rank() < 1) return op.Error("a product of scalars");
  numbers->add_lhs_contracting_dimensions(op.operand(0)->shape().rank() - 1);
  numbers->add_rhs_contracting_dimensions(0);
  RETURN_IF_ERROR(AddPrecision(op, attrs->mutable_precision_config()));
  return op.Finish(Opcode::kDot, attrs);
}

absl::Status ConvertRaggedDot(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(3));
  xla::HloInstructionProto* attrs = op.NewAttrs();
  auto* ragged = attrs->mutable_ragged_dot_dimension_numbers();
  auto* numbers = ragged->mutable_dot_dimension_numbers();
  ASSIGN_OR_RETURN(const MlirAttribute fields, op.Struct("ragged_dot_dimension_numbers"));
  const std::pair<absl::string_view, OpConversion::IntegerField*> lists[] = {
      {"lhs_batching_dimensions", numbers->mutable_lhs_batch_dimensions()},
      {"rhs_batching_dimensions", numbers->mutable_rhs_batch_dimensions()},
      {"lhs_contracting_dimensions", numbers->mutable_lhs_contracting_dimensions()},
      {"rhs_contracting_dimensions", numbers->mutable_rhs_contracting_dimensions()},
      {"lhs_ragged_dimensions", ragged->mutable_lhs_ragged_dimensions()},
      {"rhs_group_dimensions", ragged->mutable_rhs_group_dimensions()}};
  for (const auto& [key, out] : lists) RETURN_IF_ERROR(op.IntegersOfField(fields, key, out));
  RETURN_IF_ERROR(AddPrecision(op, attrs->mutable_precision_config()));
  return op.Finish(Opcode::kRaggedDot, attrs);
}

// One of the bracketed lists of [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]. `first` and `second`: the letters of the
// two dimensions that are not spatial.
absl::Status ReadLabels(OpConversion& op, TextScanner* scanner, absl::string_view first,
                        absl::string_view second, int64_t* first_at, int64_t* second_at,
                        OpConversion::IntegerField* spatial) {
  std::vector<std::pair<int64_t, int64_t>> places;
  int64_t at = 0;
  *first_at = *second_at = -1;
  RETURN_IF_ERROR(scanner->List("[", "]", [&]() -> absl::Status {
    if (scanner->Consume(first)) {
      *first_at = at++;
    } else if (scanner->Consume(second)) {
      *second_at = at++;
    } else {
      ASSIGN_OR_RETURN(const int64_t number, scanner->Integer());
      places.emplace_back(number, at++);
    }
    return absl::OkStatus();
  }));
  std::sort(places.begin(), places.end());
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].first != static_cast<int64_t>(i)) return op.Error("spatial dimensions are 0, 1, ..");
    spatial->Add(places[i].second);
  }
  if (*first_at < 0 || *second_at < 0)
    return op.Error(absl::StrCat("dimension numbers lack ", first, " or ", second));
  return absl::OkStatus();
}

absl::Status ReadConvolutionNumbers(OpConversion& op, xla::ConvolutionDimensionNumbers* out) {
  const MlirAttribute* attribute = op.Find("dimension_numbers");
  if (attribute == nullptr) return op.Error("it lacks dimension_numbers");
  TextScanner scanner(attribute->body);
  int64_t first, second;
  RETURN_IF_ERROR(
      ReadLabels(op, &scanner, "b", "f", &first, &second, out->mutable_input_spatial_dimensions()));
  out->set_input_batch_dimension(first);
  out->set_input_feature_dimension(second);
  RETURN_IF_ERROR(scanner.Expect("x"));
  RETURN_IF_ERROR(
      ReadLabels(op, &scanner, "i", "o", &first, &second, out->mutable_kernel_spatial_dimensions()));
  out->set_kernel_input_feature_dimension(first);
  out->set_kernel_output_feature_dimension(second);
  RETURN_IF_ERROR(scanner.Expect("->"));
  RETURN_IF_ERROR(
      ReadLabels(op, &scanner, "b", "f", &first, &second, out->mutable_output_spatial_dimensions()));
  out->set_output_batch_dimension(first);
  out->set_output_feature_dimension(second);
  return absl::OkStatus();
}

absl::Status ConvertConvolution(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(2));
  xla::HloInstructionProto* attrs = op.NewAttrs();
  auto* numbers = attrs->mutable_convolution_dimension_numbers();
  RETURN_IF_ERROR(ReadConvolutionNumbers(op, numbers));
  const size_t spatial = numbers->kernel_spatial_dimensions_size();
  ASSIGN_OR_RETURN(const std::vector<int64_t> strides, op.IntegersOr("window_strides", spatial, 1));
  ASSIGN_OR_RETURN(const std::vector<int64_t> base, op.IntegersOr("lhs_dilation", spatial, 1));
  ASSIGN_OR_RETURN(const std::vector<int64_t> dilation, op.IntegersOr("rhs_dilation", spatial, 1));
  ASSIGN_OR_RETURN(const std::vector<int64_t> reversal, op.IntegersOr("window_reversal", spatial, 0));
  ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> padding, op.Rows("padding"));
  if (padding.empty()) padding.resize(spatial, {0, 0});
  const Shape& kernel = op.operand(1)->shape();
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t place = numbers->kernel_spatial_dimensions(static_cast<int>(d));
    if (place >= kernel.rank() || d >= padding.size() || padding[d].size() != 2) {
      return op.Error("its window does not fit the kernel");
    }
    auto* dimension = attrs->mutable_window()->add_dimensions();
    dimension->set_size(kernel.dim(place));
    dimension->set_stride(strides[d]);
    dimension->set_padding_low(padding[d][0]);
    dimension->set_padding_high(padding[d][1]);
    dimension->set_base_dilation(base[d]);
    dimension->set_window_dilation(dilation[d]);
    dimension->set_window_reversal(reversal[d] != 0);
  }
  ASSIGN_OR_RETURN(const std::vector<int64_t> features, op.IntegersOr("feature_group_count", 1, 1));
  ASSIGN_OR_RETURN(const std::vector<int64_t> batches, op.IntegersOr("batch_group_count", 1, 1));
  attrs->set_feature_group_count(features[0]);
  attrs->set_batch_group_count(batches[0]);
  RETURN_IF_ERROR(AddPrecision(op, attrs->mutable_precision_config()));
  return op.Finish(Opcode::kConvolution, attrs);
}

absl::Status ConvertEinsum(OpConversion& op) {
  RETURN_IF_ERROR(op.CheckOperands(2));
  ASSIGN_OR_RETURN(const std::string equation, op.String("einsum_config"));
  ASSIGN_OR_RETURN(const Einsum einsum,
                   ParseEinsum(equation, op.operand(0)->shape(), op.operand(1)->shape()));
  ASSIGN_OR_RETURN(const Shape shape, op.ResultShape());
  xla::HloInstructionProto* dot = op.NewAttrs();
  *dot->mutable_dot_dimension_numbers() = einsum.numbers;
  xla::HloInstructionProto* transpose = op.NewAttrs();
  if (static_cast<int>(einsum.permutation.size()) != shape.rank())
    return op.Error("its result has another rank");
  // Dimension i of the result is dimension permutation[i] of the product.
  Dims sizes(shape.rank());
  for (int d = 0; d < shape.rank(); ++d) {
    sizes[einsum.permutation[d]] = shape.dim(d);
    transpose->add_dimensions(einsum.permutation[d]);
  }
  Instruction* product = op.Add(Opcode::kDot, Shape(shape.element_type(), sizes), op.operands(), dot);
  return op.Finish(op.Add(Opcode::kTranspose, shape, {product}, transpose));
}

constexpr OpRow kRows[] = {
    {"chlo.ragged_dot", Opcode::kRaggedDot, ConvertRaggedDot},
    {"stablehlo.convolution", Opcode::kConvolution, ConvertConvolution},
    {"stablehlo.dot", Opcode::kDot, ConvertDot},
    {"stablehlo.dot_general", Opcode::kDot, ConvertDotGeneral},
    {"stablehlo.einsum", Opcode::kDot, ConvertEinsum},
};

}  // namespace

absl::Span<const OpRow> ContractionRows() { return kRows; }

}  // namespace toroid
