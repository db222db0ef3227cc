// Proposes plans whose contractions are also cut over axes that their cheapest assignments leave idle.
//
// Each device then computes less; moving the operands or the results may send more. Three prices of a flop in bytes are tried
// (IdleAxes, ../assign/assignment.h); of the plans that are better than `from`, the best one that sends at most 9 % more is
// proposed, and the best one that sends up to what the first plan sends.
#pragma once

#include "partitioner/search/strategy.h"

namespace toroid {

std::vector<PricedPlan> CutOverIdleAxes(const SearchProblem& problem, const PricedPlan& from);

}  // namespace toroid
