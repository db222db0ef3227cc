// The ends of the entry computation: arguments as the caller cuts them, results as it puts them together.
//
// Inside all arrays are row-major and the devices stand in mesh order. Parameters and results keep the layouts that
// the module states for them, and arrays whose sharding orders the devices in a way of its own are permuted here.
#ifndef TOROID_PARTITIONER_REWRITE_ENTRY_REWRITER_H_
#define TOROID_PARTITIONER_REWRITE_ENTRY_REWRITER_H_

#include <vector>

#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// The shape of a local value whose leaves lie in the plan's shardings of the tensors `leaves`, in the layouts of
// `shape`.
Shape PlannedLocalShape(const RewriteState& state, const SpmdBuilder& b, const Shape& shape,
                        absl::Span<const int> leaves);

class EntryRewriter {
 public:
  explicit EntryRewriter(RewriteState* state) : state_(*state) {}

  // Adds the parameters to `b`'s computation, and their leaves to the values.
  void RewriteParameters(SpmdBuilder& b, const Computation& entry);
  // Makes the results the root, in the plan's shardings of the graph's outputs. One of which nobody said how it lies, and that
  // shares no memory with an argument, stays as it was made, where bringing it there would send something: a product cut
  // over a4 is no gathered result. Returns the shardings, by output.
  std::vector<Sharding> RewriteResults(SpmdBuilder& b, const Computation& entry);

 private:
  // How output `i`, the leaf `tensor`, is to lie.
  Sharding OutputSharding(size_t i, int tensor, bool is_free) const;

  RewriteState& state_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_ENTRY_REWRITER_H_
