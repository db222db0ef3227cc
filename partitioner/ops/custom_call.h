// Custom calls. Calls of a known target have the rule of the op that they compute, calls that state a Shardy
// rule have that rule (stated_rule.h), and calls with the attribute num_batch_dims="n" are cut along their n
// leading dimensions only. All others run on replicated arrays. LAPACK's triangular solves are also cut along
// their right-hand sides, which are independent.
//
// Example: y = f32[8,4,4]{1,2,0} custom-call(x), operand_layout_constraints={f32[8,4,4]{1,2,0}}, num_batch_dims="1"
// over 2 devices, cut along dimension 0:
//   a = f32[4,4,4]{1,2,0} copy(x)
//   b = f32[4,4,4]{1,2,0} custom-call(a), operand_layout_constraints={f32[4,4,4]{1,2,0}}
//   y = f32[4,4,4]{2,1,0} copy(b)
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule CustomCallShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionCustomCall(OpContext& context);

}  // namespace toroid
