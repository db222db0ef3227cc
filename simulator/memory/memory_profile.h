// What a program holds in a core's memory, over time and at its peak, by what it is there for.
//
// Liveness is that of hlo/analysis/peak_memory: in program order, donated arguments free after their last use,
// updates in place. Sizes are those of the machine, tiles padded (ArraySize).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/analysis/buffers.h"
#include "hlo/ir/module.h"
#include "simulator/schedule/schedule.h"

namespace toroid {

enum class MemoryClass {
  kParameter,  // An argument that stays as it is: weights that are not updated, the batch.
  kState,      // An argument that the program donates, and what is written in its place: weights in training.
  kSlot,  // Of these, in a program whose products read some: one that no product reads. Averages of an optimizer.
  kActivation,  // Made before the peak and needed after it.
  kWorkspace  // Operands and results of the op at the peak, made or used for the last time there; over time, of the op
              // that runs.
};
inline constexpr int kMemoryClasses = 5;
absl::string_view MemoryClassName(MemoryClass c);

// By number: parameters of the entry that are slots. `module` as it was before lowering, which lets products take what stands
// behind them into their groups.
std::vector<bool> FindSlots(const Module& module);

struct MemoryProfile {
  struct Value {
    const Instruction* maker;
    int leaf;  // Of the maker's shape.
    int64_t bytes;
    MemoryClass memory_class;
  };
  // A loop's body is at its highest for as long as the loop runs.
  struct Sample {
    int64_t start_ps;
    int64_t bytes;                                 // Until the next sample.
    std::array<int64_t, kMemoryClasses> by_class;  // Sum: bytes.
  };

  int64_t peak_bytes = 0;
  // By MemoryClass; sum: peak_bytes.
  std::array<int64_t, kMemoryClasses> by_class{};
  int64_t bytes(MemoryClass c) const { return by_class[static_cast<int>(c)]; }
  const Instruction* peak_at = nullptr;
  std::vector<Value> at_peak;   // Largest first.
  std::vector<Sample> samples;  // Of the entry, by time; neighbors differ.
};

// `slots`: those of FindSlots.
MemoryProfile ProfileMemory(const Module& module, const Schedule& schedule, const std::vector<bool>& slots,
                            const ArraySize* size = nullptr);

}  // namespace toroid
