// select-and-scatter, the gradient of max pooling:
//   result = init; for each source element s, pick a position of its window over the operand, then
//   result[pick] = scatter(s, result[pick])
// Window positions are visited in row-major order, without those outside the operand. The current pick stays
// if select(current, candidate) is true, so GE keeps the first maximum.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteSelectAndScatter(OpCall& call);

}  // namespace toroid
