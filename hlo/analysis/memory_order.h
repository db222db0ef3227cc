// Orders in which a compiler might run the steps of a computation to need little memory.
//
// Three ways to order a graph, none of which is best for all: depth first from the results, operands that need most memory
// first; the same in program order; and step by step, always a step that frees most bytes. A compiler tries them all and
// takes the one with the lowest peak; so does ComputeCompiledPeakMemory.
// Source: XLA's memory scheduler (list, depth first and post-order; the best one counts).
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/analysis/memory_steps.h"
#include "hlo/ir/module.h"

namespace toroid {

// Program order, then the three above, each a permutation of the steps' positions in which producers come before their
// consumers. `peaks`: by index, in bytes, of the computations before this one. Time: O(n log n) for n operands in all.
std::vector<std::vector<int>> OrdersForMemory(const Computation& computation, const MemorySteps& steps,
                                              const std::vector<int64_t>& peaks);

}  // namespace toroid
