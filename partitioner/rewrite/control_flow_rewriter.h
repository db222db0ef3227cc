// Loops and conditionals: computations that are entered from one place each, and rewritten when that is met.
//
// A value that crosses into a body, condition or branch, or out of it, does so in the sharding that the plan has for
// its tensor: it is resharded to it before, and found in it behind. The state of a loop has one sharding per leaf, in
// which every trip begins and ends.
#ifndef TOROID_PARTITIONER_REWRITE_CONTROL_FLOW_REWRITER_H_
#define TOROID_PARTITIONER_REWRITE_CONTROL_FLOW_REWRITER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// Writes the instructions of a computation of the global program with a builder, parameters and result apart.
using RewriteInstructions = std::function<absl::Status(SpmdBuilder& b, const Computation& computation)>;

class ControlFlowRewriter {
 public:
  ControlFlowRewriter(RewriteState* state, RewriteInstructions rewrite_instructions)
      : state_(*state), rewrite_instructions_(std::move(rewrite_instructions)) {}

  // Errors: those of the instructions inside.
  absl::Status RewriteWhile(SpmdBuilder& b, const Instruction& loop);
  absl::Status RewriteConditional(SpmdBuilder& b, const Instruction& conditional);

 private:
  // A body, condition or branch, whose result ends in the shardings `results`, one per leaf.
  absl::StatusOr<Computation*> RewriteCallee(const Computation& callee, absl::Span<const Sharding> results);
  // The leaves of `value` in these shardings, as one value.
  Instruction* Collect(SpmdBuilder& b, const Instruction& value, absl::Span<const Sharding> shardings,
                       const Instruction& consumer);
  std::vector<Sharding> Planned(absl::Span<const int> tensors) const;

  RewriteState& state_;
  const RewriteInstructions rewrite_instructions_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_CONTROL_FLOW_REWRITER_H_
