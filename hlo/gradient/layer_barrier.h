// What stands between the forward pass and what the backward pass of a layer computes again.
//
//   x', w', c' = opt-barrier(x, w, c)       x, w: kept values; c: cotangents of the layer's results
//
// Values are computed again from x' and w', so that no compiler joins them with the first computation, and
// not before c is there, so that no scheduler computes all layers again at once: then nothing would be saved.
// Cotangents go on as c', or compilers would drop them from the barrier. Source: jax.checkpoint, which does
// the same.
#ifndef TOROID_HLO_GRADIENT_LAYER_BARRIER_H_
#define TOROID_HLO_GRADIENT_LAYER_BARRIER_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/builder/instruction_builder.h"

namespace toroid {

class LayerBarrier {
 public:
  // `b` outlives this.
  explicit LayerBarrier(InstructionBuilder* b) : b_(*b) {}

  // The value behind the barrier, which stands where the first one was asked for.
  Value ValueBehind(Value value);

  // Something is computed again behind it: a barrier that nothing needs is removed by its owner.
  void set_is_needed() { is_needed_ = true; }
  bool is_needed() const { return is_needed_; }
  // (before, behind), in the order in which they were asked for.
  const std::vector<std::pair<Value, Value>>& values() const { return values_; }

 private:
  InstructionBuilder& b_;
  Value tuple_ = nullptr, barrier_ = nullptr;
  bool is_needed_ = false;
  std::vector<std::pair<Value, Value>> values_;
  absl::flat_hash_map<Value, Value> behind_;
};

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_LAYER_BARRIER_H_
