// select: out[i] = pred[i] ? on_true[i] : on_false[i]; a scalar predicate chooses a whole operand, which may
// be a tuple.
// clamp:  out[i] = min(max(x[i], low[i]), high[i]); low and high may be scalars; NaN in any of the three
// gives NaN.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteSelect(OpCall& call);
absl::Status ExecuteClamp(OpCall& call);

}  // namespace toroid
