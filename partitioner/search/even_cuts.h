// Callers cannot always take parts of unequal size. Where propagation cuts parameters or outputs unevenly without being
// asked to, this proposes the plan of a propagation that may cut them only evenly.
//
// All such arrays are restricted at first, then the outputs alone, then the parameters alone. The first plan that costs no
// more than `from` is proposed.
// Example: f32[10] over 4 devices by chance; over 2 of them each has 5.
#pragma once

#include "partitioner/search/strategy.h"

namespace toroid {

std::vector<PricedPlan> CutEvenly(const SearchProblem& problem, const PricedPlan& from);

}  // namespace toroid
