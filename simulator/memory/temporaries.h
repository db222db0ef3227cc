// Memory that a program takes beside its arguments and results, handed out as a compiler does that knows the order of the
// program before it runs.
//
// Arguments lie where the caller put them, results in memory of their own or in that of a donated argument. Every other
// array is a temporary: as its maker begins it gets the smallest free place that holds it, in program order, and gives it
// back after its last use. Nothing moves: what is needed is the highest end of a place, holes below included. A result of
// an elementwise op or group, of an update in place or an all-reduce takes the place of an operand of its kind that has its
// last use there; what is updated in place to become a result lies where that does. A loop's or branch's body takes one
// place for as long as it runs; what a branch returns lies where the conditional's result does. Places are multiples of 16 KiB.
// Example: 4 MiB x, then 4 MiB y made from x, then 32 MiB made from y: 40 MiB, for the third does not fit where x was.
// Source: found on what Google's compiler for TPU v3 (libtpu 0.0.51) states for programs of tests/corpus/tpu_v3: given its
// groups in its order, this comes to its statement within 2 % for nearly all that need more than 4 MiB.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/analysis/buffers.h"
#include "hlo/ir/module.h"

namespace toroid {

struct MemoryNeeds {
  int64_t arguments = 0;
  int64_t results = 0;  // Without those that donated arguments' memory receives.
  int64_t temporary = 0;

  int64_t All() const;  // Saturates.
};

// By number of `buffers`, which are those of the entry: lies in memory that a result of the program has for itself.
std::vector<bool> ResultBuffers(const Module& module, const Buffers& buffers);

// By number of `buffers`: the last instruction that reads the buffer, the computation's size for what it returns; -1 for
// buffers that nothing names.
std::vector<int> LastUses(const Computation& computation, const Buffers& buffers);

// By number of `buffers`: the one whose place it takes as it is made, that one's last use; -1 if none. `stays`: those that
// neither take places nor pass theirs on.
std::vector<int> PlacesTaken(const Computation& computation, const Buffers& buffers,
                             const std::vector<int>& last_uses, const std::vector<bool>& stays);

// `packs`: places are not handed out in program order but largest array first (packed_lives.h).
MemoryNeeds ComputeMemoryNeeds(const Module& module, const ArraySize* size = nullptr, bool packs = false);

}  // namespace toroid
