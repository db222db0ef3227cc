// select-and-scatter, the gradient of max pooling:
//   result = init; for each source element s, pick a position of its window over the operand, then
//   result[pick] = scatter(s, result[pick])
// Window positions are visited in row-major order, without those outside the operand. The current pick stays
// if select(current, candidate) is true, so GE keeps the first maximum.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteSelectAndScatter(OpCall& call);

// Bytes that it takes beside operands and result. `rows`: of each operand.
int64_t SelectAndScatterScratchBytes(const Instruction& op, absl::Span<const int64_t> rows);

}  // namespace toroid
