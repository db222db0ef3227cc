// convolution: operands lhs (input), rhs (kernel).
//   out[b, o, y] = sum over kernel positions k and input features i of lhs[b', i', p] * rhs[i, o, k]
//   C1 every dimension of input, kernel and output has exactly one role; all have equally many
//      spatial ones.
//   C2 the window has one entry per spatial dimension, of the kernel's size there.
//   C3 strides and dilations are >= 1, and no step of computing the output sizes overflows.
//   C4 feature_group_count and batch_group_count are >= 1 (0: not given), at most one above 1.
//   C5 input features = kernel input features * feature_group_count.
//   C6 kernel output features are divisible by both counts, the input batch by batch_group_count.
//   C7 operands and result are all complex, or none is.
//   C8 the bytes of the dilated and padded input fit 64 bits.
// Result: batch = input batch / batch_group_count, features = kernel output features, spatial sizes of
// window.h. Result type: as given, else the lhs's.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferConvolutionShape(const Instruction& instruction);

}  // namespace toroid
