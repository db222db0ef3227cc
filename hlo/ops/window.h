// Sizes under windows, for convolution, reduce-window and select-and-scatter.
//
//   dilate(n, d) = 0 if n = 0, else (n - 1) * d + 1
//   output size  = floor((dilate(n, base) + low + high - dilate(w, window)) / stride) + 1,
//                  0 if the window does not fit
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/proto/xla_data.pb.h"

namespace toroid {

struct WindowSizes {
  int64_t windows = 0;  // The output size.
  int64_t padded = 0;   // Size of the input with base dilation and padding; 0 if negative.
};

// Sizes along one dimension of size `n`.
// Errors: `constraint`, for a negative window size, strides or dilations below 1, or overflow.
absl::StatusOr<WindowSizes> SizesUnderWindow(absl::string_view constraint, int64_t n,
                                             const xla::WindowDimension& window);

}  // namespace toroid
