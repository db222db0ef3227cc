// Writes the parameters and results of the entry computation, in the layouts and device orders of its caller.
//
// Between them all arrays are row-major and tiles lie in mesh order. Parameters and results have the layouts
// that the module states for them. Arrays whose sharding lists the devices in another order than the mesh are
// permuted here.
#pragma once

#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// The local shape of a value of global shape `shape`, with the layouts of `shape`. Its leaves are the tensors
// `leaves`, in the plan's shardings.
Shape PlannedLocalShape(const RewriteState& state, const SpmdBuilder& b, const Shape& shape,
                        absl::Span<const int> leaves);

class EntryRewriter {
 public:
  explicit EntryRewriter(RewriteState* state) : state_(*state) {}

  // Adds the parameters to `b`'s computation, and their leaves to state.values.
  void RewriteParameters(SpmdBuilder& b, const Computation& entry);
  // Makes the results the root, in the shardings that the plan has for the graph's outputs.
  void RewriteResults(SpmdBuilder& b, const Computation& entry);

 private:
  RewriteState& state_;
};

}  // namespace toroid
