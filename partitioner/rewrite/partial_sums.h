// Which operands an op may take as partial sums, still to be reduced.
//
// A product or a slice of a partial sum is a partial sum of products or slices: reducing behind it may be cheaper, and
// one reduction then serves several terms. Every sharding rule says in which operands its op is linear
// (sharding_rule.h). What no op may take is decided beforehand, for the whole program (reduction_points.h).
//
// Example: ab and cd are partial over 4 devices. Their sum takes both as they are, and is reduced once. tanh(ab) takes
// neither.
#ifndef TOROID_PARTITIONER_REWRITE_PARTIAL_SUMS_H_
#define TOROID_PARTITIONER_REWRITE_PARTIAL_SUMS_H_

#include <cstdint>
#include <vector>

#include "partitioner/prepare/prepared_program.h"
#include "partitioner/rewrite/sharded_values.h"

namespace toroid {

// Operands that enter an op partial, and the axes and the reducer of all of them.
struct PartialOperands {
  uint32_t operands = 0;  // Bit i: operand i.
  Sharding partial;

  bool none() const { return operands == 0; }
  bool Has(size_t operand) const { return operand < 32 && (operands >> operand & 1) != 0; }
  AxisSet axes() const { return none() ? 0 : partial.partial; }
};

// True if the op may take the operands of `partial` so, and no others: it is linear in them, by the reducer's rules. Operands
// that would have to be partial too may be constant zeros, which stand for a missing term of a sum.
bool MayPassOn(const Instruction& instruction, const FlowOp& op, const PartialOperands& partial);

class PartialSums {
 public:
  PartialSums(const PreparedProgram& program, const ShardingPlan& plan, const ShardedValues* values);

  // The operands that `op` may take partial: all that are; none if their axes or reducers differ, or one of them is to be
  // reduced at once.
  PartialOperands OperandsToPassOn(const Instruction& instruction, const FlowOp& op) const;

 private:
  const FlowGraph& graph_;
  const ShardedValues& values_;
  const std::vector<bool> must_reduce_;  // By tensor.
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_PARTIAL_SUMS_H_
