// Notes on the cuts of a partitioned program: parameters, outputs and annotated values in unequal parts, and cuts that
// shardings ask for but no op needs.
//
// f32[17] over 8 devices has shards of 3 elements: the devices hold 3, 3, 3, 3, 3, 2, 0 and 0 elements, and padding
// after them. A constant or an iota whose consumers all need the whole array is made whole, whatever its sharding says.
#pragma once

#include <vector>

#include "partitioner/provenance/cut_note.h"
#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// The output module is complete, its callees before their callers.
std::vector<CutNote> FindCuts(const RewriteState& state);

}  // namespace toroid
