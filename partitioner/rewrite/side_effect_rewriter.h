// Rewrites ops with side effects: a print, a callback, an infeed or outfeed on one device, an outfeed of cut
// data.
#pragma once

#include "absl/status/status.h"
#include "partitioner/rewrite/op_rewriter.h"
#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

class SideEffectRewriter {
 public:
  SideEffectRewriter(RewriteState* state, OpRewriter* ops) : state_(*state), ops_(*ops) {}

  // Rewrites an op that one device runs. The operands are replicated; the result is partial over all devices,
  // with neutral elements on those that do not run the op:
  //   conditional(partition-id = device, operands, operands), true: the op; false: neutral elements
  // Errors: kUnimplemented for a result that is neither array nor token.
  absl::Status RewriteOnDevice(SpmdBuilder& b, const Instruction& instruction, int64_t device);

  // Rewrites an outfeed of data in the shardings `data`, one per leaf: every device feeds its tiles.
  // Errors: kUnimplemented for tiles of unequal size and for partial data.
  absl::Status RewriteOutfeed(SpmdBuilder& b, const Instruction& instruction,
                              absl::Span<const Sharding> data);

 private:
  // The branch of the device that runs the op, and the branch of the others.
  Computation* BranchOnDevice(const Instruction& instruction, const Shape& operands);
  Computation* BranchElsewhere(const Instruction& instruction, const Shape& operands);

  RewriteState& state_;
  OpRewriter& ops_;
};

}  // namespace toroid
