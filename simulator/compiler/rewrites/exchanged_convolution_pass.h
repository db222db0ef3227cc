// Exchanges the operands of a convolution whose kernel is larger than its images: the smaller one slides over the larger one.
//   convolution(x, g), x with zeros between its elements, g larger than the result (the gradient of a transposed convolution's
//   kernel)                          => reverse(convolution(g, x)), the elements of x as far apart as they were
//   convolution(x, w), x of fewer positions than w, and of more than one (the gradient of what a large kernel slid over, w read
//   from its end; kernels that reach beyond small images)
//                                    => convolution(w, x), x read from its end, w reversed if it was not read from its end
//                                    or the same with the result reversed, x not, if the result is smaller than w
// Examples: x bf16[8,32,32,128], g bf16[8,64,64,64], lhs_dilate=2x2 to [4,4,128,64]: a window of 32x32 positions slides over g
// instead of one of 64x64 over x with its zeros. x f32[512,4,4,64], w f32[5,5,32,64] to [512,8,8,32]: 16 positions instead of
// 25, most of which meet padding.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class ExchangedConvolutionPass : public Pass {
 public:
  absl::string_view name() const override { return "exchanged_convolution"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
