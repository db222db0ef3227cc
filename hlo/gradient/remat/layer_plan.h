// The layer of each value of a computation, and the values that are kept because of it.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/gradient/sweep/gradient_options.h"
#include "hlo/ir/module.h"

namespace toroid {

struct LayerPlan {
  std::vector<int64_t> of_op;  // By index of the instruction; an operand's layer is not greater.
  // By layer. In the other layers all values that take work are kept, also in bodies of loops.
  std::vector<bool> computed_again;
};

// Sets options->keep: it keeps, besides the values it kept before, those that a layer hands to later layers,
// and those outside recomputed layers.
void KeepWhatLayersHandOn(const Computation& computation, const LayerPlan& layers, GradientOptions* options);

// The smallest array from which `value` can be made without work; null if no array is needed.
// Example: bf16 convert(f32 x): itself; transpose(x): x; broadcast(x): x; iota: null.
const Instruction* LeastArrayOf(const Instruction& value);

}  // namespace toroid
