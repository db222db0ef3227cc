// Composite ops, expanded into elementwise ops, reductions and loops.
//
//   batch-norm-training    mean = sum(x) / n, variance = sum((x - mean)^2) / n,
//                          y = (x - mean) rsqrt(variance + epsilon) scale + offset; n elements of a feature
//   batch-norm-inference   y as above
//   batch-norm-grad        with c = x - mean, r = rsqrt(variance + epsilon), t the cotangent of y:
//                          to scale = r sum(t c), to offset = sum(t),
//                          to x = scale r (t - (sum(t) + c r^2 sum(t c)) / n)
//   scan                   a loop over the rows along its dimension; for the fold of one associative reducer,
//   a cumulative
//                          reduce-window
//
// Batch norms of floats of 16 bits or less compute in f32 and round their results.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"

namespace toroid {

// True for the ops above.
bool CanExpand(const Instruction& op);

// The value of the op over `operands`, of the op's shape. `step`: the computation that a scan calls, in the
// module of `b`; null for other ops.
// Requires: CanExpand(op), a verified op.
// Errors: those of `b`.
absl::StatusOr<Value> ExpandOp(const Instruction& op, absl::Span<const Value> operands,
                               const Computation* step, InstructionBuilder& b);

// A scan as a loop, also if it could be a reduce-window. Operands: inputs, carries; the result is a tuple of
// outputs and carries.
Value ExpandScan(const Instruction& scan, absl::Span<const Value> operands, const Computation& step,
                 InstructionBuilder& b);

}  // namespace toroid
