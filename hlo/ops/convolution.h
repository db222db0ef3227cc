// convolution: operands lhs (input), rhs (kernel).
//
//   out[b, o, y] = sum over kernel positions k and input features i of lhs[b', i', p] * rhs[i, o, k]
// C1 dimension numbers: every dimension of input, kernel and output has exactly one role, equally many
// spatial ones. C2 the window has one entry per spatial dimension, of the kernel's size. C3 strides and
// dilations >= 1, no overflow. C4 feature_group_count and batch_group_count >= 1, at most one above 1. C5
// input features = kernel input features * feature_group_count; kernel output features divisible by both
// counts; input batch divisible by batch_group_count. C6 operands and result are all complex or none is.
// Result: batch = input batch / batch_group_count, features = kernel output features, spatial sizes of
// window.h. Result type: as given, else the lhs's.
#ifndef TOROID_HLO_OPS_CONVOLUTION_H_
#define TOROID_HLO_OPS_CONVOLUTION_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferConvolutionShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_CONVOLUTION_H_
