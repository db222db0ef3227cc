// topk: the first k elements of each sorted line of the last dimension, with their s32 positions.
//
// Largest first, or smallest first. Total order: NaN above infinity, -NaN below -infinity, +0 above -0. Among
// equal elements the lower position comes first.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// The opcode topk and the custom-calls TopK and mhlo.topk (largest first); k is read from the result's shape.
absl::Status ExecuteTopK(OpCall& call);

}  // namespace toroid
