// Gradients of ops by way of other ops that compute the same.
//
// The op is written out in a computation of its own, and what flows through it is what flows through a call
// of that. The backward pass so computes the expansion again.
// Example: scaled-dot(l, r, s, t) as dot(l * spread(s), r * spread(t)).
#ifndef TOROID_HLO_GRADIENT_EXPANSION_H_
#define TOROID_HLO_GRADIENT_EXPANSION_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/gradient/pullback.h"

namespace toroid {

// Writes what the op computes of these operands; of the op's shape.
using Expand =
    absl::FunctionRef<absl::StatusOr<Value>(InstructionBuilder& b, absl::Span<const Value> operands)>;

// Errors: those of `expand`, and of the rules of the ops that it writes.
absl::Status GradientByExpansion(Pullback& p, Expand expand);

// The op is a call of `callee` with its operands.
absl::Status CalleeGradient(Pullback& p, const Computation& callee);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_EXPANSION_H_
