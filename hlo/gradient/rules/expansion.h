// Gradients of ops by expansion into other ops.
//
// The op is expanded in a computation of its own, and its gradient is that of a call of this computation. The
// backward pass therefore recomputes the expansion.
// Example: scaled-dot(l, r, s, t) as dot(l * spread(s), r * spread(t)).
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

// Writes the op's value over `operands`; it has the op's shape.
using Expand =
    absl::FunctionRef<absl::StatusOr<Value>(InstructionBuilder& b, absl::Span<const Value> operands)>;

// Errors: those of `expand`, and those of the gradient rules of the expansion's ops.
absl::Status GradientByExpansion(Pullback& p, Expand expand);

// The gradient of the op as a call of `callee` with the op's operands.
absl::Status CalleeGradient(Pullback& p, const Computation& callee);

}  // namespace toroid
