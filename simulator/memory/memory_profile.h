// What a program holds in a core's memory, over time and at its peak, by what it is there for.
//
// Liveness is that of hlo/analysis/peak_memory: in program order, donated arguments free after their last use,
// updates in place. Sizes are those of the machine, tiles padded (ArraySize).
#ifndef TOROID_SIMULATOR_MEMORY_MEMORY_PROFILE_H_
#define TOROID_SIMULATOR_MEMORY_MEMORY_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo/analysis/buffers.h"
#include "hlo/ir/module.h"
#include "simulator/schedule/schedule.h"

namespace toroid {

enum class MemoryClass {
  kParameter,   // An argument that stays as it is: weights that are not updated, the batch.
  kState,       // An argument that the program donates, and what is written in its place.
  kActivation,  // Made before the peak and needed after it.
  kWorkspace    // Operands and results of the op at the peak, made or used for the last time there.
};
absl::string_view MemoryClassName(MemoryClass c);

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
    int64_t bytes;  // Until the next sample.
  };

  int64_t peak_bytes = 0;
  int64_t parameter_bytes = 0, state_bytes = 0, activation_bytes = 0, workspace_bytes = 0;  // Sum: peak_bytes.
  const Instruction* peak_at = nullptr;
  std::vector<Value> at_peak;   // Largest first.
  std::vector<Sample> samples;  // Of the entry, by time; neighbors differ.
};

MemoryProfile ProfileMemory(const Module& module, const Schedule& schedule, const ArraySize* size = nullptr);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_MEMORY_MEMORY_PROFILE_H_
