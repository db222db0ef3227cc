// Gradients of transposed convolutions' kernels, so that no zeros are multiplied:
//   convolution(x, g), x with zeros between its elements, g larger than the result
//     => reverse(convolution(g, x)), the elements of x as far apart as they were
// Example: x bf16[8,32,32,128], g bf16[8,64,64,64], lhs_dilate=2x2 to [4,4,128,64]: a window of 32x32 positions slides over g
// instead of one of 64x64 over x with its zeros.
#ifndef TOROID_SIMULATOR_LOWERING_KERNEL_GRADIENT_PASS_H_
#define TOROID_SIMULATOR_LOWERING_KERNEL_GRADIENT_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class KernelGradientPass : public Pass {
 public:
  absl::string_view name() const override { return "kernel-gradient"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid

#endif  // TOROID_SIMULATOR_LOWERING_KERNEL_GRADIENT_PASS_H_
