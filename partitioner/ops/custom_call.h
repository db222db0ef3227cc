// Custom calls: those with a known meaning have the rule of what they mean; those that say over how many leading
// dimensions they are a batch of calls are cut along these; others run on replicated arrays.
//
// Example: y = f32[8,4,4]{1,2,0} custom-call(x), operand_layout_constraints={f32[8,4,4]{1,2,0}}, num_batch_dims="1"
// over 2 devices, cut along dimension 0:
//   a = f32[4,4,4]{1,2,0} copy(x)
//   b = f32[4,4,4]{1,2,0} custom-call(a), operand_layout_constraints={f32[4,4,4]{1,2,0}}
//   y = f32[4,4,4]{2,1,0} copy(b)
#ifndef TOROID_PARTITIONER_OPS_CUSTOM_CALL_H_
#define TOROID_PARTITIONER_OPS_CUSTOM_CALL_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule CustomCallShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionCustomCall(OpContext& context);

// A custom call on local operands with a local result, one instruction per result leaf. The callee was compiled for
// the layouts that the call states: operands are copied to them and results from them, so that all around it stays
// row-major, and the shapes in its operand constraints become those of the local operands.
std::vector<Instruction*> EmitCustomCall(SpmdBuilder& b, const Instruction& call,
                                         absl::Span<Instruction* const> operands, const Shape& local_result,
                                         const std::function<Computation*(const Computation*)>& copy_computation);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_CUSTOM_CALL_H_
