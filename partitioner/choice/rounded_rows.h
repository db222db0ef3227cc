// Further rows of memory that follow from those of a core for integers only, so that a bound comes closer to the best.
//
//   sum of usages <= limit    gives    sum of g * floor(usage / g) <= g * floor(limit / g)    for each g > 0
//
// Taken for g just above limit / 2, limit / 3, limit / 4: at most one array of more than half of the room fits, at most two
// of more than a third. By prices alone 1.4 arrays of 0.7 of the room would.
// Example: limit 10, usages of three nodes 0 or 6: with g = 6 at most one of the three uses 6.
// Source: V. Chvatal, Edmonds polytopes and a hierarchy of combinatorial problems, 1973.
#pragma once

#include "partitioner/choice/reduction.h"

namespace toroid {

// The same core, its rows first, then the further ones. Cores with more rows than some hundreds stay as they are.
ChoiceCore WithRoundedRows(const ChoiceCore& core);

}  // namespace toroid
