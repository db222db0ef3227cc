// dot: out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]
//
// Shapes: each letter the product of its dimensions, in the order batch, lhs free, rhs free; the device is
// one more batch dimension. Sums of narrow floats run in f32, of other types in the result's; integers wrap,
// pred is or of ands.
#ifndef TOROID_RUNTIME_KERNELS_DOT_H_
#define TOROID_RUNTIME_KERNELS_DOT_H_

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteDot(OpCall& call);

// A dot on buffers: operands of the given shapes, uniform or with one row per device.
// Errors: kResourceExhausted.
absl::Status Dot(const OpCall& call, const xla::DotDimensionNumbers& numbers, const Shape& lhs_shape,
                 const MeshBuffer& lhs, const Shape& rhs_shape, const MeshBuffer& rhs, const Shape& shape,
                 MeshBuffer* result);

}  // namespace toroid

#endif  // TOROID_RUNTIME_KERNELS_DOT_H_
