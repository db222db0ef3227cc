// Ops that make, bundle or unpack values without computing: iota, constants, tuples, tokens, device numbers.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// out[i] = i along iota_dimension, converted to the element type.
absl::Status ExecuteIota(OpCall& call);
absl::Status ExecuteTuple(OpCall& call);
absl::Status ExecuteGetTupleElement(OpCall& call);
// Runs once, when the plan is built.
absl::Status ExecuteConstant(OpCall& call);
// Never runs: callers write arguments to the parameters' slots.
absl::Status ExecuteParameter(OpCall& call);
absl::Status ExecuteAfterAll(OpCall& call);
absl::Status ExecuteAddDependency(OpCall& call);
// replica-id and partition-id.
absl::Status ExecuteDeviceId(OpCall& call);
absl::Status ExecuteCopyStart(OpCall& call);
absl::Status ExecuteCopyDone(OpCall& call);

}  // namespace toroid
