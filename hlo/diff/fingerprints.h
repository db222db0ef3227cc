// Numbers that tell what instructions compute, whatever they are called and in whatever order they stand.
//
// Two instructions, of one module or of two, have equal numbers if they have the same opcode, shape, attributes and operands.
// What makes no difference to the values does not count: names, ids, channel ids, layouts, metadata, shardings, frontend
// attributes, the backend configs of ops that are no custom calls, control predecessors, and the wire form of groups of devices
// ([2,4]<=[8] is {{0,1,2,3},{4,5,6,7}}).
// The numbers are those of one process: they are not for files.
#pragma once

#include <cstddef>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// True for ops whose called computations are parts of the program: loops, branches, calls, fusions. The computations of other
// ops, such as the sum of an all-reduce, count as attributes.
bool CallsParts(Opcode opcode);

class Fingerprints {
 public:
  // Linear in the size of the module, but for groups of devices, of which each different list is read once.
  explicit Fingerprints(const Module& module);

  // The instruction by itself, without its operands and the parts it calls.
  size_t Own(const Instruction& op) const { return own_[op.computation()->index()][op.index()]; }
  // The instruction with all that it is computed from.
  size_t Whole(const Instruction& op) const { return whole_[op.computation()->index()][op.index()]; }
  // All instructions of a computation, those that nothing needs among them.
  size_t Of(const Computation& computation) const { return computations_[computation.index()]; }

 private:
  std::vector<std::vector<size_t>> own_, whole_;  // By the computation's index, by the instruction's.
  std::vector<size_t> computations_;
};

}  // namespace toroid
