// Rewrites loops and conditionals. Each body, condition or branch has one caller and is rewritten with it.
//
// A value that enters or leaves a body, condition or branch does so in the sharding that the plan has for its
// tensor: it is resharded to it on one side of the call and has it on the other. The state of a loop has one
// sharding per leaf, in which every trip begins and ends.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// Rewrites the instructions of a computation of the global program with `b`, except its parameters and its
// result.
using RewriteInstructions = std::function<absl::Status(SpmdBuilder& b, const Computation& computation)>;

class ControlFlowRewriter {
 public:
  ControlFlowRewriter(RewriteState* state, RewriteInstructions rewrite_instructions)
      : state_(*state), rewrite_instructions_(std::move(rewrite_instructions)) {}

  // Errors: those of rewriting the instructions of the called computations.
  absl::Status RewriteWhile(SpmdBuilder& b, const Instruction& loop);
  absl::Status RewriteConditional(SpmdBuilder& b, const Instruction& conditional);

 private:
  // Rewrites a body, condition or branch so that its result has the shardings `results`, one per leaf.
  absl::StatusOr<Computation*> RewriteCallee(const Computation& callee, absl::Span<const Sharding> results);
  // The local value of `value`, for `consumer`, with its leaves resharded to `shardings`.
  Instruction* Collect(SpmdBuilder& b, const Instruction& value, absl::Span<const Sharding> shardings,
                       const Instruction& consumer);
  std::vector<Sharding> Planned(absl::Span<const int> tensors) const;

  RewriteState& state_;
  const RewriteInstructions rewrite_instructions_;
};

}  // namespace toroid
