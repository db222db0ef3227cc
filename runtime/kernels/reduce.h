// reduce: out[kept] = fold of to_apply over the listed dimensions, starting from the init values.
//
// Operands: n arrays, n scalar inits; the result is a tuple of n if n > 1. A one-op body on one array is a
// plain loop; sums of narrow floats run in f32. Other bodies are evaluated on whole slices; a long reduction
// of narrow slices is cut into runs folded side by side, which keeps the order of elements. Values with indices
// whose body only compares (argmax): extreme_reduce.h. Errors: those of the body.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteReduce(OpCall& call);

// Bytes that it takes beside operands and result. `rows`: of each operand.
int64_t ReduceScratchBytes(const Instruction& reduce, absl::Span<const int64_t> rows);

}  // namespace toroid
