// scatter: out = operands; then for every batch coordinate b of the indices and window offset o of the
// updates
//   out[start(b) + o] = to_apply(out[start(b) + o], update[b, o])
// Starts are found as in gather but not clamped: a window that is not wholly inside the operand is dropped.
// Updates of one place are combined in row-major order of the updates. In place if this is the operand's last
// use.
//
// A one-op body runs update by update; any other body (also over several operands) runs on rounds of updates
// with distinct places, all updates of a round at once.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteScatter(OpCall& call);

// Bytes that it takes beside operands and result. `rows`: of each operand.
int64_t ScatterScratchBytes(const Instruction& scatter, absl::Span<const int64_t> rows);

}  // namespace toroid
