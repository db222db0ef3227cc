// Elementwise ops: out[i] = op(operands[i]). An operand with one element is used for all.
//
// Most of them run in groups (../groups); these kernels run one alone.
//   clamp:  out[i] = min(max(x[i], low[i]), high[i]); NaN in any of the three gives NaN.
//   select: out[i] = pred[i] ? on_true[i] : on_false[i]; a scalar predicate chooses a whole operand, which may
//           be a tuple.
// Errors: kUnimplemented for an op that is not defined on the type, kInvalidArgument for an unknown direction
// of a compare, kResourceExhausted.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteElementwise(OpCall& call);
absl::Status ExecuteSelect(OpCall& call);

// By family of hlo/opcode.inc.
absl::Status ExecuteUnary(OpCall& call);
inline absl::Status ExecuteBinary(OpCall& call) { return ExecuteElementwise(call); }
inline absl::Status ExecuteCompare(OpCall& call) { return ExecuteElementwise(call); }
inline absl::Status ExecuteClamp(OpCall& call) { return ExecuteElementwise(call); }
inline absl::Status ExecuteConvert(OpCall& call) { return ExecuteElementwise(call); }

}  // namespace toroid
