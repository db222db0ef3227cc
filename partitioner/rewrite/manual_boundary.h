// Where a value enters or leaves a manual region.
#ifndef TOROID_PARTITIONER_REWRITE_MANUAL_BOUNDARY_H_
#define TOROID_PARTITIONER_REWRITE_MANUAL_BOUNDARY_H_

#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// The buffer is the same on both sides: the value is resharded as on the side it comes from, and goes on as it lies.
// Inside it is cut as the plan has it, but for tiles that do not lie alike outside (crossing_values.h).
void RewriteManualBoundary(RewriteState& state, SpmdBuilder& b, const Instruction& instruction,
                           const ManualBoundary& boundary);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_MANUAL_BOUNDARY_H_
