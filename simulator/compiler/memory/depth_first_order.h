// Another order of a program: depth first, from its results.
//
// Operands stand before the op that reads them: first those whose values, and what they are made from, have the most other
// readers, then those made from the most memory. In a training step the backward pass then runs to its end before gradients of
// weights are made. Source: XLA's depth-first memory scheduler. Google's compiler has training steps in this order that do not
// fit into memory as they are.
#pragma once

#include <vector>

#include "hlo/analysis/buffers.h"
#include "hlo/ir/module.h"

namespace toroid {

// All instructions of an entry, in that order; `buffers` are the entry's. Instructions that nothing reads come last. An op that
// overwrites a donated argument waits for all readers of that argument.
std::vector<Instruction*> DepthFirstOrder(const Computation& entry, const Buffers& buffers);

}  // namespace toroid
