// reduce-window of one array by a body of one op, as loops over pieces that fit in the cache.
#pragma once

#include "absl/status/status.h"
#include "runtime/loops/loop_of_two.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Bytes that the results of passes take beside the operation's, for `rows` devices.
int64_t PassesBytes(const Instruction& op, int64_t rows);

// Whether op(init, init) is init on all devices: then padding counts for nothing, however often it is folded.
bool InitIsIdempotent(const OpCall& call, BinaryLoop loop);

// `loop`: the body's op, on ComputeType of the array. Requires InitIsIdempotent and a result of at least one element.
// Windows that all begin at the first element, or all end at the last one, are running folds (loops/prefix_scan); others are
// folded along one dimension after another, from the last to the first (loops/window_fold).
absl::Status ReduceWindowByLoop(OpCall& call, BinaryLoop loop);

}  // namespace toroid
