// all-to-all: member i sends block j to member j and receives block i of every member, in group order.
//
// Array form: blocks along the dimension; received blocks are concatenated along it. Tuple form (no
// dimension): one operand per member; result element i came from member i.
// Errors: kInvalidArgument if the group size does not divide the dimension, or is not the number of operands.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteAllToAll(OpCall& call);
// For each member j and update u of the group, rows input[input_offsets[j, u] .. + send_sizes[j, u]) go to
// row output_offsets[j, u] of member j's output; other rows keep the values of the output operand. Errors:
// kInvalidArgument for offsets and sizes outside the arrays.
absl::Status ExecuteRaggedAllToAll(OpCall& call);

}  // namespace toroid
