// Ops that run computations, and custom calls.
//
// call, fusion: Result: the computation's.
//   C1 as many operands as the computation has parameters.
//   C2 every operand has its parameter's shape.
//
// while: Result: the value's shape.
//   C1 the body takes the value and gives one of its shape.
//   C2 the condition takes the value and gives pred[].
//
// conditional: operands index and one per branch. Result: the branches' result.
//   C1 the index is pred[] for two branches, or s32[] for any number.
//   C2 one operand per branch.
//   C3 a branch takes its operand.
//   C4 all branches give one shape.
//
// custom-call: Result: as given.
//   C1 Sharding, ShardBarrierFrom, ShardBarrierTo: one operand, and a result of its shape.
//   C2 SPMDFullToShardShape, SPMDShardToFullShape: one operand, and a result of its type and rank.
//   C3 X64Combine: two operands of 32 bits per element, and a result of 64 of their sizes.
//   C4 X64SplitLow, X64SplitHigh: one operand of 64 bits per element, and a result of 32 of its sizes.
//   C5 TopK, mhlo.topk: the result is (values, s32 indices), both of operand 0's sizes but for the
//      last, which is at most the operand's; the values have its type.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferCallShape(const Instruction& instruction);
absl::StatusOr<Shape> InferFusionShape(const Instruction& instruction);
absl::StatusOr<Shape> InferWhileShape(const Instruction& instruction);
absl::StatusOr<Shape> InferConditionalShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCustomCallShape(const Instruction& instruction);

}  // namespace toroid
