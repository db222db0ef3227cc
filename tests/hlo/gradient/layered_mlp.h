// A residual network of two-matrix layers, for tests of rematerialization.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/builder/builder.h"
#include "hlo/gradient/sweep/gradient_options.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

struct LayeredMlpSizes {
  int64_t tokens, model, hidden;
};

// x[k+1] = x[k] + tanh(swish(x[k] a[k]) b[k]); the loss is the sum of exp of the last x. The ops of layer k
// are named "layer_k/..."; tokens are split over the devices.
struct LayeredMlp {
  LayeredMlp(int layers, const LayeredMlpSizes& sizes, int64_t devices = 1);

  // (loss, gradient of each weight).
  absl::StatusOr<std::unique_ptr<Module>> Step(const GradientOptions& options);

  Builder b;
  std::vector<Value> x;        // Layers + 1 values, f32[tokens,model].
  std::vector<Value> weights;  // a[0], b[0], a[1] ...
  Value loss;
};

// Arguments for all parameters: small numbers around 0, times `scale`.
std::vector<Literal> SmallArguments(const Module& module, float scale);

// True if `op` computes a value of the forward pass a second time.
bool IsComputedAgain(const Instruction& op);

}  // namespace toroid
