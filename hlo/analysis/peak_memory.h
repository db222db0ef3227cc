// Most memory that a program holds at a time, in the order in which its instructions stand, and what holds it.
//
// A buffer (buffers.h) is taken when its maker runs and free after the last instruction that needs it. Parameters of
// the entry stay, those that the module donates (input_output_alias, buffer_donor) until their last use. A result
// takes the place of an operand that has its last use there: of the operand of its number where the op updates in place
// (dynamic-update-slice, scatter, the state of a loop), of any of its size where the op is elementwise. While a call,
// loop or branch runs, what its body holds counts beside what is alive around it; the arguments of a body belong to
// its caller. What fusions and reducers hold inside stays in registers.
// Example: x = f32[1000] parameter(0), y = negate(x), ROOT z = sine(y): 8 kB, for z takes y's place.
#ifndef TOROID_HLO_ANALYSIS_PEAK_MEMORY_H_
#define TOROID_HLO_ANALYSIS_PEAK_MEMORY_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "hlo/analysis/buffers.h"
#include "hlo/ir/module.h"

namespace toroid {

struct PeakMemory {
  struct Value {
    const Instruction* maker;
    int leaf;  // Of the maker's shape.
    int64_t bytes;
    bool until_after;  // Needed after the instruction at which the peak is.
  };
  int64_t bytes = 0;                // Saturates.
  const Instruction* at = nullptr;  // Innermost; null for a module without instructions.
  std::vector<Value> live;  // What is held there, largest first; those of equal size in program order.
};

// By number: parameters of the entry whose memory the program may use again (input_output_alias, buffer_donor).
std::vector<bool> DonatedParameters(const Module& module);

// Arrays without holes, unless `size` says otherwise.
PeakMemory ComputePeakMemory(const Module& module, const ArraySize* size = nullptr);

// Kinds of buffers that a caller tells apart.
inline constexpr int kBufferKinds = 4;
using BufferKind = std::function<int(const Buffer&)>;  // Below kBufferKinds.

// What is held while one instruction runs, at its highest.
struct HeldMemory {
  int64_t bytes = 0;                          // All of it.
  std::array<int64_t, kBufferKinds> stays{};  // Needed before the instruction and after it, by kind.
  std::array<int64_t, kBufferKinds>
      passes{};  // Made by the instruction, or needed for the last time. The rest of `bytes` is
                 // what the bodies hold that it runs.
};

// Of the entry, by the index of its instructions. `kind` empty: all are of kind 0.
std::vector<HeldMemory> MemoryWhileRunning(const Module& module, const ArraySize* size = nullptr,
                                           const BufferKind& kind = nullptr);

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_PEAK_MEMORY_H_
