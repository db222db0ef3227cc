// Ops that move elements without reading their values.
//
// broadcast:   out[j] = x[j at `dimensions`]                   reshape, copy, ...: the buffer itself
// transpose:   out[j], j_i = operand index dimensions[i]       reverse: flips the listed dimensions
// slice:       out[i] = x[start + i * stride]                  concatenate: operands one after another
// pad:         out = value, then x at low + i * (interior + 1), cut at both ends where padding is negative
#pragma once

#include "absl/status/status.h"
#include "hlo/ir/module.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteBroadcast(OpCall& call);
absl::Status ExecuteReshape(OpCall& call);
absl::Status ExecuteIdentity(OpCall& call);
absl::Status ExecuteTranspose(OpCall& call);
absl::Status ExecuteReverse(OpCall& call);
absl::Status ExecuteConcatenate(OpCall& call);
absl::Status ExecuteSlice(OpCall& call);
absl::Status ExecutePad(OpCall& call);

// Whether the result of a broadcast, transpose, concatenate or slice is the operand's buffer, as nothing moves.
bool HandsOnOperand(const Instruction& instruction);

}  // namespace toroid
