// Rewrites an op by which values enter or leave a manual region.
#pragma once

#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// The local buffer of a value is the same on both sides: the value is resharded on the side it comes from,
// then handed on. Inside, it has the plan's sharding without the axes whose tiles would differ from those
// outside (manual_regions.h).
void RewriteManualBoundary(RewriteState& state, SpmdBuilder& b, const Instruction& instruction,
                           const ManualBoundary& boundary);

}  // namespace toroid
