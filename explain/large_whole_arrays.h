// Large arrays that every device holds whole, by the author's line, for the notes of an explanation.
//
//   whole: params['embed'] f32[32000,4096] 524.3 MB, the module asks for it (model.py:7)
#pragma once

#include <vector>

#include "explain/explanation.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// At most three lines' arrays, those of most bytes first. An array is large if it has at least 1 MiB and a sixteenth of the
// bytes of the largest array of a device. Of a line the largest arrays count. Values that each device makes by itself, such as
// constants and what is broadcast from a scalar, are left out. Empty for a program that was not partitioned here.
std::vector<ExplainedNote> LargeWholeArrays(const Partitioned& partitioned);

}  // namespace toroid
