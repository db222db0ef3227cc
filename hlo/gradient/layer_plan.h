// Which layer each value of a computation belongs to, and what is therefore kept.
#ifndef TOROID_HLO_GRADIENT_LAYER_PLAN_H_
#define TOROID_HLO_GRADIENT_LAYER_PLAN_H_

#include <cstdint>
#include <vector>

#include "hlo/gradient/gradient_options.h"
#include "hlo/ir/module.h"

namespace toroid {

struct LayerPlan {
  std::vector<int64_t> of_op;  // By index of the instruction; those of operands are not greater.
  std::vector<bool>
      computed_again;  // By layer; of the others all that takes work is kept, bodies of their loops included.
};

// Kept are, beside what `options->keep` keeps, what layers hand to later ones, and what is in no layer that
// is computed again.
void KeepWhatLayersHandOn(const Computation& computation, const LayerPlan& layers, GradientOptions* options);

// Of the arrays from which `value` follows without work the least; null if that is none at all.
// Example: of bf16 convert(f32 x) itself, of transpose(x) x, of broadcast(x) x, of an iota none.
const Instruction* LeastArrayOf(const Instruction& value);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_LAYER_PLAN_H_
