// What became of the cuts that shardings ask for, and of parameters and outputs in unequal parts.
//
// An array of 17 rows over 8 devices lies in shards of 3: the devices hold 3, 3, 3, 3, 3, 2, 0 and 0 of its rows, and padding behind
// them. A constant or an iota that only whole arrays need is made whole, whatever its sharding says.
#ifndef TOROID_PARTITIONER_REWRITE_CUT_FINDINGS_H_
#define TOROID_PARTITIONER_REWRITE_CUT_FINDINGS_H_

#include <vector>

#include "absl/types/span.h"
#include "partitioner/provenance/cut_note.h"
#include "partitioner/rewrite/rewrite_state.h"

namespace toroid {

// To be asked of a complete output module, callees before their callers; `outputs`: how the results lie.
std::vector<CutNote> FindCuts(const RewriteState& state, absl::Span<const Sharding> outputs);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_CUT_FINDINGS_H_
