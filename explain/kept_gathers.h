// Gathered arguments that are kept: made whole once, used by the forward pass, and used again by the backward pass. They take
// memory in between, where a second gather (jax.checkpoint around the use) takes none.
//
//   kept: params['w'] f32[256,256] 262.1 kB, used again 1 op later, in the backward pass (fsdp.py:7)
#pragma once

#include <vector>

#include "explain/explanation.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/ir/module.h"

namespace toroid {

// The notes, of at most three lines, largest first; arrays of a sixteenth of the largest. `collectives`: of the module.
std::vector<ExplainedNote> KeptGathers(const Module& module,
                                       const std::vector<CollectiveRecord>& collectives);

}  // namespace toroid
