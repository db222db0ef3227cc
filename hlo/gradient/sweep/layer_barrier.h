// The barrier between the forward pass and the values that the backward pass recomputes for one layer.
//
//   x', w', c' = opt-barrier(x, w, c)       x, w: kept values; c: cotangents of the layer's results
//
// Values are recomputed from x' and w'. A compiler therefore cannot merge them with the first computation,
// and a scheduler cannot recompute a layer before c is ready: if it recomputed all layers at once, no memory
// would be saved. The backward pass continues with c', since compilers would drop unused elements of the
// barrier.
// Source: jax.checkpoint, which does the same.
#pragma once

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/builder/instruction_builder.h"

namespace toroid {

class LayerBarrier {
 public:
  // `b` outlives this.
  explicit LayerBarrier(InstructionBuilder* b) : b_(*b) {}

  // The value behind the barrier. The first call places the barrier.
  Value ValueBehind(Value value);

  // Marks that a value is recomputed behind the barrier; the owner removes a barrier that is not needed.
  void set_is_needed() { is_needed_ = true; }
  bool is_needed() const { return is_needed_; }
  // Pairs (before, behind), in the order of the calls of ValueBehind.
  const std::vector<std::pair<Value, Value>>& values() const { return values_; }

 private:
  InstructionBuilder& b_;
  Value tuple_ = nullptr, barrier_ = nullptr;
  bool is_needed_ = false;
  std::vector<std::pair<Value, Value>> values_;
  absl::flat_hash_map<Value, Value> behind_;
};

}  // namespace toroid
