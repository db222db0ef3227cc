// Gradients of contractions.
//
// dot: each operand's cotangent is a dot of the result's with the other operand.
//
// Result dimensions are [batch, free of lhs, free of rhs]. lhs's cotangent contracts the free dimensions of
// rhs. It has dimensions [batch, free of lhs, contracted in rhs's order], and is transposed to lhs's order.
// ragged-dot: the same with ragged dots and the same group sizes. If lhs's free dimension m is cut into
// groups, rhs's cotangent contracts it: [m,k] x [g,k,n] -> [m,n] gives [m,n] x [g,k,n] -> [m,k] and [m,k] x
// [m,n] -> [g,k,n].
// scaled-dot: the dot of the scaled operands.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status DotGradient(Pullback& p);
absl::Status RaggedDotGradient(Pullback& p);
absl::Status ScaledDotGradient(Pullback& p);

}  // namespace toroid
