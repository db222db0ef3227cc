// Ops that run computations, and custom calls.
//
// call, fusion  C1 the operands are the computation's parameters. Result: its root's shape.
// while         C1 body (value) -> value. C2 condition (value) -> pred[]. Result: the value's shape.
// conditional   C1 a pred[] index with two branches, or s32[] with at least one. C2 one operand per branch,
// which is
//               its branch's parameter. C3 all branches give one shape.
// custom-call   C1 Sharding, SPMD*Shape, ShardBarrier*: one operand and a result of its type; but for
// SPMD*Shape also
//               of its sizes. Result: as given.
#ifndef TOROID_HLO_OPS_CONTROL_FLOW_H_
#define TOROID_HLO_OPS_CONTROL_FLOW_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferCallShape(const Instruction& instruction);
absl::StatusOr<Shape> InferFusionShape(const Instruction& instruction);
absl::StatusOr<Shape> InferWhileShape(const Instruction& instruction);
absl::StatusOr<Shape> InferConditionalShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCustomCallShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_CONTROL_FLOW_H_
