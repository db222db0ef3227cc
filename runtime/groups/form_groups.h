// Which steps of a plan run together as a group.
//
// An elementwise step joins the group of an operand if both have the same number of elements (or the step one element per row
// of the group), and if no other operand comes from a step that needs the group: a group runs as one step, so it must not wait
// for itself. Groups of several operands merge under the same condition. Reductions of rows join the group of their operand,
// and what uses the sums joins as well; sums over lines, and over rows longer than a block, end a group.
//
// Steps are looked at in program order (unit_order.h says how it is known what waits for what).
#pragma once

#include "hlo/analysis/side_effects.h"
#include "runtime/plan/plan.h"

namespace toroid {

// Replaces steps of the plan by groups, and orders the steps anew: each runs as early as its operands and the steps with side
// effects before it allow.
void FormGroups(const SideEffects& side_effects, Plan& plan);

}  // namespace toroid
