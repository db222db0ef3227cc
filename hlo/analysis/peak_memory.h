// The peak memory of a program in its instruction order, and the values that are live at the peak.
//
// A buffer (buffers.h) is allocated when its maker runs and freed after its last use. Parameters of the entry
// are live to the end, except donated ones (input_output_alias, buffer_donor), which are freed after their
// last use. A result reuses the buffer of an operand whose last use is there: the operand of the same number
// if the op updates in place (dynamic-update-slice, scatter, the state of a loop), any operand of the same
// size if the op is elementwise. While a call, loop or branch runs, the buffers of its body count in addition
// to those live around it; the arguments of a body belong to its caller. Values inside fusions and reducers
// stay in registers.
// Example: x = f32[1000] parameter(0), y = negate(x), ROOT z = sine(y): 8 kB, because z reuses y's buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/analysis/buffers.h"
#include "hlo/analysis/memory_walk.h"
#include "hlo/ir/module.h"

namespace toroid {

struct PeakMemory {
  using Value = HeldValue;
  int64_t bytes = 0;  // Saturates.
  // The instruction at the peak, in the innermost body; null for an empty module.
  const Instruction* at = nullptr;
  std::vector<Value> live;  // Live at the peak, largest first; equal sizes in program order.
};

// The peak of the device's memory, without arrays in the host's memory (memory_spaces.h). Arrays are dense unless `size`
// is given.
PeakMemory ComputePeakMemory(const Module& module, const ArraySize* size = nullptr);
// The peak that a program which is not compiled yet will have once a compiler has fused it (memory_steps.h) and ordered it
// for little memory (memory_order.h). Parameters and results stay as they are.
PeakMemory ComputeCompiledPeakMemory(const Module& module, const ArraySize* size = nullptr);
// The steps of a computation, and their order: positions in `steps.steps`.
struct OrderedSteps {
  MemorySteps steps;
  std::vector<int> order;
  std::vector<bool> reserved;  // See MemoryWalk.
};
// By index of computations: the steps and the order of ComputeCompiledPeakMemory. `spaces`: of the module.
std::vector<OrderedSteps> OrderAsCompiled(const Module& module, const MemorySpaces& spaces);
// The same for a program that is fused already, each instruction being a step. Arrays are dense unless `size` is given.
std::vector<OrderedSteps> OrderForLittleMemory(const Module& module, const ArraySize* size = nullptr);
// The peak of the host's memory.
PeakMemory ComputeHostPeakMemory(const Module& module);

// By index of the entry's instructions. Without `kind` all buffers are of kind 0.
std::vector<HeldMemory> MemoryWhileRunning(const Module& module, const ArraySize* size = nullptr,
                                           const BufferKind& kind = nullptr);

}  // namespace toroid
