#include "hlo/ops/convolution.h"

#include <algorithm>

#include "hlo/ops/constraint.h"
#include "hlo/ops/window.h"

namespace toroid {
namespace {

absl::Status CheckRoles(absl::string_view array, int rank, int64_t first, int64_t second,
                        absl::Span<const int64_t> spatial) {
  Dims all = {first, second};
  all.insert(all.end(), spatial.begin(), spatial.end());
  RETURN_IF_ERROR(CheckDistinctDimensions("C1", absl::StrCat(array, " dimension"), all, rank));
  if (static_cast<int>(all.size()) == rank) return absl::OkStatus();
  return Violates("C1", absl::StrCat("dimension numbers of the ", array), absl::StrCat(all.size()),
                  absl::StrCat(rank));
}

int64_t DimOf(const Shape& shape, int64_t d) { return shape.dim(d); }

// Checks C1.
absl::Status CheckDimensionNumbers(const xla::ConvolutionDimensionNumbers& n, const Shape& lhs,
                                   const Shape& rhs) {
  const int spatial = n.input_spatial_dimensions_size();
  if (n.kernel_spatial_dimensions_size() != spatial || n.output_spatial_dimensions_size() != spatial) {
    return Violates("C1", "spatial dimensions of input, kernel and output",
                    absl::StrCat(spatial, ", ", n.kernel_spatial_dimensions_size(), " and ",
                                 n.output_spatial_dimensions_size()),
                    "equally many");
  }
  RETURN_IF_ERROR(CheckRoles("input", lhs.rank(), n.input_batch_dimension(), n.input_feature_dimension(),
                             AsSpan(n.input_spatial_dimensions())));
  RETURN_IF_ERROR(CheckRoles("kernel", rhs.rank(), n.kernel_input_feature_dimension(),
                             n.kernel_output_feature_dimension(), AsSpan(n.kernel_spatial_dimensions())));
  return CheckRoles("output", spatial + 2, n.output_batch_dimension(), n.output_feature_dimension(),
                    AsSpan(n.output_spatial_dimensions()));
}

// Checks C4 .. C6.
absl::Status CheckGroupCounts(const xla::HloInstructionProto& attrs, int64_t batch, int64_t input_features,
                              int64_t kernel_features, int64_t output_features) {
  const int64_t feature_groups = attrs.feature_group_count(), batch_groups = attrs.batch_group_count();
  if (feature_groups < 0 || batch_groups < 0 || (feature_groups > 1 && batch_groups > 1)) {
    return Violates("C4", "feature_group_count and batch_group_count",
                    absl::StrCat(feature_groups, " and ", batch_groups), "1 or more, at most one above 1");
  }
  const int64_t by_feature = std::max<int64_t>(feature_groups, 1),
                by_batch = std::max<int64_t>(batch_groups, 1);
  if (input_features % by_feature != 0 || input_features / by_feature != kernel_features) {
    return Violates("C5", "input features", absl::StrCat(input_features),
                    absl::StrCat(by_feature, " groups of ", kernel_features));
  }
  if (output_features % by_feature != 0 || output_features % by_batch != 0 || batch % by_batch != 0) {
    return Violates(
        "C6", "output features and input batch", absl::StrCat(output_features, " and ", batch),
        absl::StrCat("multiples of feature_group_count ", by_feature, " and batch_group_count ", by_batch));
  }
  return absl::OkStatus();
}

// Checks C7; returns the type of the result.
absl::StatusOr<PrimitiveType> ResultType(const Instruction& instruction) {
  const PrimitiveType lhs = instruction.operand(0)->shape().element_type();
  const PrimitiveType rhs = instruction.operand(1)->shape().element_type();
  const PrimitiveType given = instruction.shape().element_type();
  const PrimitiveType type = IsArrayType(given) ? given : lhs;
  if (IsComplex(lhs) == IsComplex(rhs) && IsComplex(lhs) == IsComplex(type)) return type;
  return Violates("C7", "types",
                  absl::StrCat(TypeName(lhs), " times ", TypeName(rhs), " as ", TypeName(type)),
                  "complex numbers in all three, or in none");
}

}  // namespace

absl::StatusOr<Shape> InferConvolutionShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const xla::HloInstructionProto& attrs = instruction.attrs();
  const xla::ConvolutionDimensionNumbers& n = attrs.convolution_dimension_numbers();
  const Shape& lhs = instruction.operand(0)->shape();
  const Shape& rhs = instruction.operand(1)->shape();
  RETURN_IF_ERROR(CheckDimensionNumbers(n, lhs, rhs));
  const int spatial = n.input_spatial_dimensions_size();
  if (attrs.window().dimensions_size() != spatial) {
    return Violates("C2", "window dimensions", absl::StrCat(attrs.window().dimensions_size()),
                    absl::StrCat(spatial));
  }
  const int64_t batch = DimOf(lhs, n.input_batch_dimension());
  const int64_t input_features = DimOf(lhs, n.input_feature_dimension());
  const int64_t output_features = DimOf(rhs, n.kernel_output_feature_dimension());
  RETURN_IF_ERROR(CheckGroupCounts(attrs, batch, input_features,
                                   DimOf(rhs, n.kernel_input_feature_dimension()), output_features));
  Dims dims(spatial + 2), padded = {batch, input_features};
  dims[n.output_batch_dimension()] = batch / std::max<int64_t>(attrs.batch_group_count(), 1);
  dims[n.output_feature_dimension()] = output_features;
  for (int i = 0; i < spatial; ++i) {
    const xla::WindowDimension& window = attrs.window().dimensions(i);
    const int64_t kernel_size = DimOf(rhs, n.kernel_spatial_dimensions(i));
    if (window.size() != kernel_size) {
      return Violates("C2", absl::StrCat("size of window dimension ", i), absl::StrCat(window.size()),
                      absl::StrCat(kernel_size, ", as in the kernel ", rhs.ToString()));
    }
    ASSIGN_OR_RETURN(const WindowSizes sizes,
                     SizesUnderWindow("C3", DimOf(lhs, n.input_spatial_dimensions(i)), window));
    dims[n.output_spatial_dimensions(i)] = sizes.windows;
    padded.push_back(sizes.padded);
  }
  ASSIGN_OR_RETURN(const PrimitiveType type, ResultType(instruction));
  RETURN_IF_ERROR(CheckProduct("C8", "the bytes of the padded input", padded));
  return MakeArray(type, dims);
}

}  // namespace toroid
