// Writes the local program of one op; also of ops that hand on a tuple and of ops without a sharding rule.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

class OpRewriter {
 public:
  explicit OpRewriter(RewriteState* state) : state_(*state) {}

  // Rewrites an instruction that is no control flow, side effect or boundary of a manual region. Reshards the
  // operands to the shardings that the decision for the op needs, and writes its local program with `b`. The
  // results keep the shardings in which they are computed.
  // Errors: those of the op's local program.
  absl::Status Rewrite(SpmdBuilder& b, const Instruction& instruction);

  // Clones the instruction, with the computations it calls, on local operands of its global shapes. Returns
  // the leaves of its result.
  std::vector<Instruction*> CloneReplicated(SpmdBuilder& b, const Instruction& instruction,
                                            absl::Span<Instruction* const> operands);

 private:
  // Reshards the value of a Sharding annotation to the sharding it asks for. False if `instruction` is no
  // annotation.
  bool RewriteAnnotation(SpmdBuilder& b, const Instruction& instruction);
  // Rewrites an op that hands on the leaves of its operand: one local op, each leaf in the sharding decided
  // for it.
  absl::Status RewriteLeaves(SpmdBuilder& b, const Instruction& instruction);
  absl::Status RewriteByRule(SpmdBuilder& b, const Instruction& instruction, const FlowOp& op);
  // Rewrites an op without a rule: on replicated operands, with replicated results.
  void RewriteReplicated(SpmdBuilder& b, const Instruction& instruction);
  // True if the op can be computed in any sharding without communication, and so is rematerialized for each
  // user.
  bool CanBeRematerialized(const FlowOp& op) const;
  // True if the decision replicates all operands and the op can be rematerialized once they are replicated.
  bool IsMadeOfWholes(const FlowOp& op, const OpDecision& decision) const;

  RewriteState& state_;
};

}  // namespace toroid
