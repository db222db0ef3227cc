// A computation as the steps that write arrays to memory.
//
// A compiler does not write every value: it fuses cheap producers into their consumers. These values are computed where they
// are read, as often as they are read, and hold no memory; their consumers read the arrays they are made of. Each other
// instruction is a step, which reads buffers (buffers.h) and makes buffers.
//
// A value is made where it is read if all its consumers can do so and
//   - it is elementwise, or only moves elements (broadcast, slice, transpose, ..), and is made of few arrays by few ops; or
//   - it is a product or a convolution whose one consumer is elementwise, of the same size and no wider: its epilogue.
// Collectives, calls, loops, custom calls, sorts, the entry's results and what is updated in place need arrays in memory.
// Example: s = f32[] maximum(a, b), t = f32[1000] broadcast(s), ROOT r = f32[1000] subtract(x, t): one step, r, which
// reads x, a and b.
// Source: fusion as XLA describes it for TPUs; ../../docs/design_notes.md says how near the peaks come.
#pragma once

#include <utility>
#include <vector>

#include "hlo/analysis/buffers.h"
#include "hlo/ir/module.h"

namespace toroid {

struct MemoryStep {
  const Instruction* op = nullptr;
  std::vector<int> reads;  // Buffers that the step reads, each once.
  // (from, to): buffer `to`, which the step makes, may be written over `from`, if nothing reads `from` later. The first
  // pair that fits counts.
  std::vector<std::pair<int, int>> places;
};

struct MemorySteps {
  Buffers buffers;
  std::vector<MemoryStep> steps;  // In program order. All instructions, if none is fused.
};

// Each instruction writes its results. `result_places`: by index, of the computations before this one.
MemorySteps StepsAsWritten(const Computation& computation, const ArraySize* size, const CountedMemory& memory,
                           const std::vector<ResultPlaces>& result_places);

// As a compiler would fuse the program. Buffers of values that are made where they are read have no bytes.
MemorySteps StepsAsFused(const Computation& computation, const ArraySize* size, const CountedMemory& memory,
                         const std::vector<ResultPlaces>& result_places);

}  // namespace toroid
