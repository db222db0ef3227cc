// ragged-dot: a dot whose lhs dimension d is cut into consecutive groups of run-time sizes.
//   d free:        [b,m,k] x [g,b,k,n] -> [b,m,n]    row i uses the rhs of its group; 0 after the last group
//   d contracting: [b,m,k] x [b,k,n]   -> [g,b,m,n]  group g sums over its own part of k
//   d batch:       the plain dot
// group_sizes is [g], or [p.., g] with one list per coordinate of the dimensions p: the lhs batch dimensions,
// then the free or contracting dimensions listed before d. Groups are cut at the end of the dimension.
//
// scaled-dot: (lhs * lhs_scale) . (rhs * rhs_scale); a scale has the operand's rank and one value per block
// along each dimension; a scalar scale means 1. Products of scaled values run in f32.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Errors: kUnimplemented if group sizes differ along free dimensions of the lhs and d is contracting.
absl::Status ExecuteRaggedDot(OpCall& call);
absl::Status ExecuteScaledDot(OpCall& call);

}  // namespace toroid
