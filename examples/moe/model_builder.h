// State shared by the parts of a model while it is built: the program, its weights, its random numbers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "examples/moe/config.h"
#include "hlo/builder/builder.h"
#include "hlo/gradient/sweep/gradient_options.h"

namespace toroid {

using Sizes = std::vector<int64_t>;

// A parameter of the program that training changes.
struct ModelWeight {
  std::string name;
  Value value;
  // A new weight is drawn from this normal distribution; if stddev is 0, all elements are `mean`.
  double mean;
  double stddev;
};

class ModelBuilder {
 public:
  ModelBuilder(const MoeTransformerConfig& config, std::string name)
      : config_(config), b_(std::move(name), config.devices) {
    if (config.stages > 1) b_.SetMesh({{{"stage", config.stages}, {"data", config.devices / config.stages}}});
  }

  const MoeTransformerConfig& config() const { return config_; }
  Builder& b() { return b_; }

  // ---- Weights, f32 parameters in the order of these calls
  // Drawn with a standard deviation of 1 / sqrt(fan_in). Replicated.
  Value Weight(const Sizes& dims, const std::string& name, int64_t fan_in);
  // Dimension 0 is cut: an expert's weights are on its device.
  Value ExpertWeight(const Sizes& dims, const std::string& name, int64_t fan_in);
  // One weight of every layer of a pipeline, as one array: dimension 0 is the stages, cut over axis "stage".
  // If `fan_in` is 0, all elements are 1.
  Value StageWeight(const Sizes& dims, const std::string& name, int64_t fan_in);
  // A weight whose elements are all 1.
  Value Scale(int64_t size, const std::string& name);
  const std::vector<ModelWeight>& weights() const { return weights_; }

  // ---- Values
  // Converts to the type of activations.
  Value Activation(Value x) { return b_.Convert(x, config_.type); }
  // Broadcasts a value to `dims`: its dimension i becomes dimension kept[i].
  Value Spread(Value x, const Sizes& dims, const Sizes& kept) { return b_.Broadcast(x, dims, kept); }
  Value MeanOf(Value x, const Sizes& dimensions, int64_t count);
  // The largest element along the last dimension, subtracted before exponentials so that they do not
  // overflow. The result does not depend on it, so it counts as a constant.
  Value Shift(Value x) { return Shift(x, &b_); }
  // The same in any computation.
  Value Shift(Value x, InstructionBuilder* b);
  // max(x, 0) between two products, of x's type, but rounded if hidden values are bf16. The derivative is 1
  // where the result is above 0, so that x need not be kept for it.
  // Source: TensorFlow, ReluGrad.
  Value HiddenRelu(Value x) { return HiddenRelu(x, &b_); }
  Value HiddenRelu(Value x, InstructionBuilder* b);
  // Cuts dimension `dimension`, the groups, as the batch is cut.
  Value SplitGroups(Value x, int64_t dimension = 0) {
    return b_.Split(x, dimension, config_.Parts(config_.groups));
  }

  // ---- Training
  // The seed of all random numbers; without a seed there is no dropout, and every second expert is kept.
  void set_seed(Value seed) { seed_ = seed; }
  bool is_training() const { return seed_ != nullptr; }
  Value seed() const { return seed_; }
  // Whether the layers of a pipeline's stage are recomputed in the backward pass.
  bool& recomputes_stages() { return recomputes_stages_; }
  // Keeps each element with probability 1 - dropout, divided by that; the others become 0.
  Value Dropout(Value x);
  // The same in any computation, with a seed of that computation.
  Value Dropout(Value x, Value seed, InstructionBuilder* b);
  // f32[dims] in [0, 1).
  Value Uniform(const Sizes& dims);

  // The inputs of layers, first to last: the values that are kept if layers are recomputed.
  std::vector<Value>& layer_inputs() { return layer_inputs_; }
  // The computation that gating reduces with, shared by all layers; null before the first layer.
  Computation*& larger_gate() { return larger_gate_; }
  // Gradients of values whose ops have no rule of their own.
  GradientOptions& gradient_options() { return gradient_options_; }

 private:
  Value AddWeight(const Sizes& dims, const std::string& name, double mean, double stddev);

  const MoeTransformerConfig& config_;
  Builder b_;
  std::vector<ModelWeight> weights_;
  std::vector<Value> layer_inputs_;
  GradientOptions gradient_options_;
  Computation* larger_gate_ = nullptr;
  Value seed_ = nullptr;
  uint32_t next_site_ = 0;
  bool recomputes_stages_ = false;
};

inline Sizes SizesOf(Value x) { return Sizes(x->shape().dims().begin(), x->shape().dims().end()); }

}  // namespace toroid
