// Which operands an op may take as partial sums, that is, before they are reduced.
//
// A product or a slice of a partial sum is a partial sum of products or slices. Reducing it afterwards may be
// cheaper, and one reduction then serves several terms. Every sharding rule says in which operands its op is
// linear (sharding_rule.h). MustReduce decides beforehand, for the whole program, which tensors no op takes
// partial (reduction_points.h).
//
// Example: p = dot(a, b) and q = dot(c, d) are partial over 4 devices. p + q takes both partial, and is
// reduced once. tanh(p) is not linear: it takes p reduced.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioner/plan/op_decision.h"
#include "partitioner/plan/value_places.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

class PartialSums {
 public:
  PartialSums(const PreparedProgram& program, const ShardingPlan& plan, const ValuePlaces* values);

  // The operands that `op` takes partial: all that are partial; none if the op may not take all of them, if
  // their axes or reducers differ, or if MustReduce holds for one of them.
  PartialOperands OperandsToPassOn(const Instruction& instruction, const FlowOp& op) const;

 private:
  const FlowGraph& graph_;
  const ValuePlaces& values_;
  const std::vector<bool> must_reduce_;  // By tensor: MustReduce.
};

}  // namespace toroid
