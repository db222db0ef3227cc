// Proposes the plan whose small tensors are whole on every device.
//
// Propagation cuts a small tensor as its neighbours are cut, even where another user needs all of it. This decides all ops anew
// with those tensors whole that have at most 64 KiB, that the caller does not see and that the module does not annotate.
// Example on 4 devices: c = tanh(w), f32[64] of a whole w, is added to rows that are cut, and returned whole. Computed in
// parts, it is gathered; computed whole, each device cuts its own part and nothing is sent.
#pragma once

#include <vector>

#include "partitioner/search/strategies.h"

namespace toroid {

std::vector<PricedPlan> KeepSmallWhole(const SearchProblem& problem, const PricedPlan& from);

}  // namespace toroid
