// `hlo-partition --frames`: for each row of --explain the calls that led to it, and which of them the row names.
//
//   all-gather of 147.5 kB for layers_0..2/mlp/dot_general.*
//       3 of libraries
//     * model.py:24 mlp                  the author's
//       model.py:31 layer                the author's
//       train.py:12 <module>             a script's
#pragma once

#include <string>

#include "absl/types/span.h"
#include "explain/explanation.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/ir/module.h"

namespace toroid {

// `partitioned`: the module of the records; `collectives`: those that the explanation was made of. Of each row the calls of its
// first collective; at most 25 rows.
std::string FramesText(const Module& partitioned, absl::Span<const CollectiveRecord> collectives,
                       const Explanation& explanation);

}  // namespace toroid
