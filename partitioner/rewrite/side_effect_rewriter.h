// Ops that do more than compute: a print, a callback, an infeed or outfeed of one device or of cut data.
#ifndef TOROID_PARTITIONER_REWRITE_SIDE_EFFECT_REWRITER_H_
#define TOROID_PARTITIONER_REWRITE_SIDE_EFFECT_REWRITER_H_

#include "absl/status/status.h"
#include "partitioner/rewrite/op_rewriter.h"
#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

class SideEffectRewriter {
 public:
  SideEffectRewriter(RewriteState* state, OpRewriter* ops) : state_(*state), ops_(*ops) {}

  // An op that belongs to one device. The devices agree on the operands, one of them runs the op, and what it gives is
  // partial over all of them:
  //   conditional(partition-id = device, operands, operands), true: the op; false: absent results
  // Errors: kUnimplemented for a result that is neither array nor token.
  absl::Status RewriteOnDevice(SpmdBuilder& b, const Instruction& instruction, int64_t device);

  // An outfeed whose data lie in the shardings `data`, one per leaf: every device feeds its tiles.
  // Errors: kUnimplemented for tiles of unequal size.
  absl::Status RewriteOutfeed(SpmdBuilder& b, const Instruction& instruction,
                              absl::Span<const Sharding> data);

 private:
  // The branch of the device that runs the op, and that of the others.
  Computation* BranchOnDevice(const Instruction& instruction, const Shape& operands);
  Computation* BranchElsewhere(const Instruction& instruction, const Shape& operands);

  RewriteState& state_;
  OpRewriter& ops_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_SIDE_EFFECT_REWRITER_H_
