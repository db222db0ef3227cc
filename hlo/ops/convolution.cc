#include "hlo/ops/convolution.h"

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
  return Violates("C1", absl::StrCat(all.size(), " labels for ", array, " of rank ", rank));
}

}  // namespace

absl::StatusOr<Shape> InferConvolutionShape(const Instruction& instruction) {
  RETURN_IF_ERROR(CheckArrays(instruction));
  const xla::HloInstructionProto& attrs = instruction.attrs();
  const xla::ConvolutionDimensionNumbers& n = attrs.convolution_dimension_numbers();
  const Shape& lhs = instruction.operand(0)->shape();
  const Shape& rhs = instruction.operand(1)->shape();
  const int spatial = n.input_spatial_dimensions_size();
  RETURN_IF_ERROR(CheckRoles("input", lhs.rank(), n.input_batch_dimension(), n.input_feature_dimension(),
                             AsSpan(n.input_spatial_dimensions())));
  RETURN_IF_ERROR(CheckRoles("kernel", rhs.rank(), n.kernel_input_feature_dimension(),
                             n.kernel_output_feature_dimension(), AsSpan(n.kernel_spatial_dimensions())));
  RETURN_IF_ERROR(CheckRoles("output", spatial + 2, n.output_batch_dimension(), n.output_feature_dimension(),
                             AsSpan(n.output_spatial_dimensions())));
  if (n.kernel_spatial_dimensions_size() != spatial) {
    return Violates("C1", "input and kernel differ in their number of spatial dimensions");
  }
  if (attrs.window().dimensions_size() != spatial) {
    return Violates("C2", absl::StrCat("a window of ", attrs.window().dimensions_size(), " dimensions for ",
                                       spatial, " spatial ones"));
  }
  const auto dim = [](const Shape& shape, int64_t d) { return shape.dim(static_cast<int>(d)); };
  const int64_t feature_groups = std::max<int64_t>(attrs.feature_group_count(), 1);
  const int64_t batch_groups = std::max<int64_t>(attrs.batch_group_count(), 1);
  if (attrs.feature_group_count() < 0 || attrs.batch_group_count() < 0 ||
      (feature_groups > 1 && batch_groups > 1)) {
    return Violates(
        "C4", absl::StrCat("feature_group_count ", feature_groups, " and batch_group_count ", batch_groups));
  }
  const int64_t input_features = dim(lhs, n.input_feature_dimension());
  const int64_t kernel_features = dim(rhs, n.kernel_input_feature_dimension());
  const int64_t output_features = dim(rhs, n.kernel_output_feature_dimension());
  const int64_t batch = dim(lhs, n.input_batch_dimension());
  if (input_features % feature_groups != 0 || input_features / feature_groups != kernel_features ||
      output_features % feature_groups != 0 || output_features % batch_groups != 0 ||
      batch % batch_groups != 0) {
    return Violates("C5", absl::StrCat("input ", lhs.ToString(), " and kernel ", rhs.ToString(),
                                       " do not fit feature_group_count ", feature_groups,
                                       ", batch_group_count ", batch_groups));
  }
  Dims dims(spatial + 2);
  dims[n.output_batch_dimension()] = batch / batch_groups;
  dims[n.output_feature_dimension()] = output_features;
  for (int i = 0; i < spatial; ++i) {
    const xla::WindowDimension& window = attrs.window().dimensions(i);
    if (window.size() != dim(rhs, n.kernel_spatial_dimensions(i))) {
      return Violates("C2", absl::StrCat("window dimension ", i, " has size ", window.size(), ", the kernel ",
                                         rhs.ToString()));
    }
    ASSIGN_OR_RETURN(dims[n.output_spatial_dimensions(i)],
                     WindowedSize("C3", dim(lhs, n.input_spatial_dimensions(i)), window));
  }
  const PrimitiveType given = instruction.shape().element_type();
  const PrimitiveType type = IsArrayType(given) ? given : lhs.element_type();
  const bool complex = IsComplex(lhs.element_type());
  if (complex != IsComplex(rhs.element_type()) || complex != IsComplex(type)) {
    return Violates("C6", absl::StrCat(TypeName(lhs.element_type()), " times ", TypeName(rhs.element_type()),
                                       " as ", TypeName(type)));
  }
  return MakeArray(type, dims);
}

}  // namespace toroid
