// Writes out the padding and base dilation of the operands of windowed ops.
#pragma once

#include "absl/types/span.h"
#include "hlo/ir/attribute_views.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// (n - 1) * d + 1; 0 for n = 0; saturates.
int64_t DilatedSize(int64_t n, int64_t dilation);

// Sizes after base dilation and padding, never negative.
Dims PaddedDims(const Shape& shape, absl::Span<const WindowDim> window);

// Writes x ([rows, shape], elements of `width` bytes) into `padded` ([rows, PaddedDims]), which is filled
// already.
void PlaceInPadding(const Shape& shape, absl::Span<const WindowDim> window, int64_t width, int64_t rows,
                    bool x_uniform, const char* x, char* padded);

}  // namespace toroid
