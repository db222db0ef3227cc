// Elementwise custom-calls: unary ops under frontends' names, and 64-bit values made from halves.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Targets such as mhlo.erf: the unary op of that name; mhlo.atan(x) is atan2(x, 1).
absl::Status ElementwiseCall(OpCall& call);

// X64Combine(low, high): u64 = low | high << 32, bit for bit; s64 and f64 likewise. X64SplitLow and
// X64SplitHigh return the halves. Errors: kInvalidArgument for other widths.
absl::Status X64Combine(OpCall& call);
absl::Status X64Split(OpCall& call);

}  // namespace toroid
