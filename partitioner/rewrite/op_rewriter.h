// Writes the local program of one op, and of what is like an op: a tuple handed on, a call without a rule.
#ifndef TOROID_PARTITIONER_REWRITE_OP_REWRITER_H_
#define TOROID_PARTITIONER_REWRITE_OP_REWRITER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

class OpRewriter {
 public:
  explicit OpRewriter(RewriteState* state) : state_(*state) {}

  // An instruction that is no control flow, side effect or boundary of a manual region. Operands are resharded to what
  // the decision for the op needs, its local program is written with `b`, and the results stay where they are
  // computed.
  // Errors: those of the op's local program.
  absl::Status Rewrite(SpmdBuilder& b, const Instruction& instruction);

  // The instruction on replicated operands, without what partitioning knows of it; its result leaf by leaf.
  std::vector<Instruction*> CloneReplicated(SpmdBuilder& b, const Instruction& instruction,
                                            absl::Span<Instruction* const> operands);

 private:
  // A Sharding annotation: the value is resharded to what it asks for. False for all else.
  bool RewriteAnnotation(SpmdBuilder& b, const Instruction& instruction);
  // An op that hands its operand's leaves on: each in the sharding that suits it, all by one op.
  void RewriteLeaves(SpmdBuilder& b, const Instruction& instruction);
  // How the op is computed, noted in the state.
  OpDecision Decide(const Instruction& instruction, const FlowOp& op);
  absl::Status RewriteByRule(SpmdBuilder& b, const Instruction& instruction, const FlowOp& op);
  // An op without a rule: operands replicated, results replicated.
  void RewriteReplicated(SpmdBuilder& b, const Instruction& instruction);
  // True if the op needs no communication in any sharding: it is made where it is wanted.
  bool CanBeRematerialized(const FlowOp& op) const;
  // The same where nothing is cut, so that operands are whole once they have been fetched.
  bool IsMadeOfWholes(const FlowOp& op, const OpDecision& decision) const;

  RewriteState& state_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_OP_REWRITER_H_
