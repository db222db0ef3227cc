// collective-permute: the target of each pair gets the source's value; devices that are no target get zeros.
// collective-broadcast: every member of a group gets the first one's value; devices in no group get zeros.
//
// n-ary: each operand is moved by itself. Sliced form (input, output, input starts, output starts with
// slice_sizes): a block of the source's input replaces a block of the target's output. The starts are a tuple
// of one scalar per dimension; for several blocks, a tuple of such tuples; if input and output are tuples,
// one entry per array. slice_sizes lists the block sizes in the same order. Starts are clamped as in
// dynamic-slice. collective-permute-start gives (operand, result, contexts), collective-permute-done returns
// the result.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteCollectivePermute(OpCall& call);
absl::Status ExecuteCollectivePermuteStart(OpCall& call);
absl::Status ExecuteCollectivePermuteDone(OpCall& call);
absl::Status ExecuteCollectiveBroadcast(OpCall& call);

}  // namespace toroid
