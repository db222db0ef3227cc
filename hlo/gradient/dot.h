// Gradient of a dot: each operand's cotangent is a dot of the result's with the other operand.
//
// Result dimensions are [batch, free of lhs, free of rhs]. lhs's cotangent contracts those free in rhs:
// [batch, free of lhs, contracted as they follow each other in rhs], which is transposed to lhs's order.
#ifndef TOROID_HLO_GRADIENT_DOT_H_
#define TOROID_HLO_GRADIENT_DOT_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

absl::Status DotGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_DOT_H_
