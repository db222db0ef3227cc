// Keeps values that only products of matrices read in bf16.
//
// A dot or convolution of f32 at default precision rounds its operands to bf16. An f32 value that only such products read,
// directly or through reshapes, transposes, slices and exchanges between devices, is rounded where it is made: half the bytes
// in memory and on links, the same result.
//   x = f32[8,4] add(..), t = f32[8,4] all-to-all(x), dot(t, w)
//   => r = bf16[8,4] convert(x), t = bf16[8,4] all-to-all(r), dot(t, w)
// A sum of a product's result (the gradient of a bias, say) runs with the product, before it is rounded, and does not keep it
// f32. Arguments and results of the program, loops and branches keep their type. A dot with precision HIGH or HIGHEST, or an
// algorithm of its own, reads f32.
// Source: XLA's bfloat16 propagation; JAX documentation of lax.Precision.DEFAULT.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class Bfloat16Pass : public Pass {
 public:
  absl::string_view name() const override { return "bfloat16"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
