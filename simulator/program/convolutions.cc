#include "simulator/program/convolutions.h"

#include <algorithm>

#include "hlo/ir/attribute_views.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

double Dim(const Shape& shape, int64_t d) {
  return d >= 0 && d < shape.rank() ? static_cast<double>(std::max<int64_t>(shape.dim(d), 0)) : 1;
}

}  // namespace

bool IsKernelGradient(const Instruction& convolution) {
  const ConvolutionView view(convolution);
  double positions = 1, results = 1, elements = 1;
  for (const int64_t d : view.kernel_spatial()) positions *= Dim(convolution.operand(1)->shape(), d);
  for (const int64_t d : view.output_spatial()) results *= Dim(convolution.shape(), d);
  for (const int64_t d : view.input_spatial()) elements *= Dim(convolution.operand(0)->shape(), d);
  double reach = positions;
  for (const auto& d : convolution.attrs().window().dimensions())
    reach *= static_cast<double>(std::max<int64_t>(1, d.window_dilation()));
  return positions > results && Thresholds().gradient_reach() * reach > elements;
}

bool HoldsImagesOfGroups(const Instruction& convolution) {
  if (convolution.opcode() != Opcode::kConvolution) return false;
  const ConvolutionView view(convolution);
  if (view.input_spatial().size() > 2) return false;
  const Shape& slides_over = convolution.operand(0)->shape();
  const bool is_gradient = IsKernelGradient(convolution);
  const double groups = static_cast<double>(is_gradient ? view.batch_groups() : view.feature_groups());
  const double features =
      Dim(slides_over, is_gradient ? view.input_batch() : view.input_feature()) / std::max(1.0, groups);
  const bool is_one_way = (is_gradient ? view.feature_groups() : view.batch_groups()) == 1;
  return groups > 1 && is_one_way && features > 1 &&
         Dim(slides_over, is_gradient ? view.input_feature() : view.input_batch()) > features;
}

}  // namespace toroid
