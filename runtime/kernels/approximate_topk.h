// The custom-calls ApproxTopK and PartialReduce, computed exactly.
//
// Operands: m arrays (values, positions, ..) and m fill scalars. The called computation is a comparator (a0,
// b0, a1, b1, ..) -> pred "a before b". Result i holds the first elements of array i along reduction_dim in
// that order; its size there says how many. If the size is larger than the array's, the fill scalar follows.
// Errors: kInvalidArgument for other operands and result sizes.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ApproximateTopK(OpCall& call);

}  // namespace toroid
