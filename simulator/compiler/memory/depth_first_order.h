// Another order of a program: depth first, from its results.
//
// What an op reads stands before it, those operands first whose making has the most further readers, then those that are made from
// the most memory. Of a training step the backward pass then runs through before gradients of weights are made, which wait at the end
// of other branches.
// Source: XLA's depth-first memory scheduler. Google's compiler has training steps in this order that do not fit into memory as they are.
#pragma once

#include <vector>

#include "hlo/analysis/buffers.h"
#include "hlo/ir/module.h"

namespace toroid {

// All instructions of an entry, whose buffers these are. What nothing reads comes last; what is written into a donated argument waits for
// those that read it.
std::vector<Instruction*> DepthFirstOrder(const Computation& entry, const Buffers& buffers);

}  // namespace toroid
