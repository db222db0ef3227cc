// Arrays with dynamic dimensions: a static bound, and a run-time size per device.
//
// A buffer has room for the bound and says how much of it is valid (MeshBuffer::sizes). An op on such
// operands is the same op on static arrays of the run-time sizes: the valid parts are cut out, the op's
// kernel runs on them, and the result is put into an array of its bound, zero beyond. So every op computes on
// the valid part alone, whatever the rest holds.
//
//   x = f32[<=4] {1, 2, 3 | 9}        reduce(x, 0), add              6
//                                     concatenate(x, x)              f32[<=8] {1, 2, 3, 1, 2, 3 | 0, 0}
//
// - Where a static operand meets a dynamic one in an elementwise op, a reduction, a sort or a dot, it is cut
//   to the run-time size. Two run-time sizes that differ are an error.
// - Slices and gathers keep the bound in dimensions whose result is static.
// - A reshape finds the run-time size of one dynamic dimension per group of dimensions with a common product.
// - A result declared static is an array of the bound: elements beyond the valid part are zero.
// - Devices with different sizes run in groups that agree. Collectives need equal sizes and keep them.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "hlo/ir/instruction.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Whether the instruction must run through ExecuteOnValidParts: an operand or the result is an array with
// dynamic dimensions, and the op's own kernel does not handle run-time sizes.
bool ComputesOnValidParts(const Instruction& instruction);

// Executes any op on the valid parts of its operands.
// Errors: those of the op's kernel; kInvalidArgument for run-time sizes that do not fit together.
absl::Status ExecuteOnValidParts(OpCall& call);

}  // namespace toroid
