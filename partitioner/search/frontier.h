// Proposes plans in which ops are decided together (frontier_search.h).
//
// The axes that the plan uses together cut an op together. In small meshes each prime-sized axis is also tried by itself; since
// that splits axes that the program names, such a plan must send at most 75 % of the bytes.
#pragma once

#include "partitioner/search/strategy.h"

namespace toroid {

std::vector<PricedPlan> DecideTogether(const SearchProblem& problem, const PricedPlan& from);

}  // namespace toroid
