// Softmax over the last dimension, in two forms; each is the cheapest for some users.
#pragma once

#include "examples/moe/model_builder.h"

namespace toroid {

// exp(x - max) / sum of exp(x - max): for results that several ops read.
Value Softmax(Value x, ModelBuilder* m);

// exp(x - log(sum of exp(x))): saves the division's pass if the result is fused into a product.
Value LateSoftmax(Value x, ModelBuilder* m);
// The same in any computation.
Value LateSoftmax(Value x, InstructionBuilder* b, ModelBuilder* m);

// x - max, and the logarithm of the sum of its exponentials (without the last dimension).
struct ShiftedLogits {
  Value shifted;
  Value log_sum;
};
ShiftedLogits ShiftLogits(Value x, ModelBuilder* m);

}  // namespace toroid
