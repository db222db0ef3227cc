// gather: for each batch coordinate of the indices, a window of `slice_sizes` of the operand.
//
//   out[b, o] = x[clamp(start(b), 0, dim - slice_size) + o]
// Result dimensions in offset_dims are the window's dimensions without its collapsed and batching dimensions;
// the others are the batch coordinates.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteGather(OpCall& call);

}  // namespace toroid
