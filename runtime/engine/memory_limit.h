// How much memory, and how many steps, a run may take.
#ifndef TOROID_RUNTIME_ENGINE_MEMORY_LIMIT_H_
#define TOROID_RUNTIME_ENGINE_MEMORY_LIMIT_H_

#include <cstdint>
#include <string>

#include "runtime/plan/plan.h"

namespace toroid {

// Most bytes of values alive at a time unless the caller says otherwise: four fifths of the memory that is
// available to this process now, by the machine and by its control group (version 1 or 2).
int64_t DefaultMaxBytes();

// Where the values of a run take most memory.
struct PeakEstimate {
  int64_t bytes = 0;
  const Instruction* instruction = nullptr;  // Null: on entry.
};

// A lower bound of what a run of the plan holds at its peak, from the sizes that the program states: values
// that live after an instruction, operands that die there left out. Values that may share storage with
// another count nothing; values count one row unless `uniform_arguments` says that a parameter they follow
// from has `copies`; of branches the smaller one counts, and loops count as run.
PeakEstimate EstimatePeak(const Plan& plan, const std::vector<bool>& uniform_arguments, int64_t copies);

// Steps that a run of the plan takes if every call calls once: loops go round once, reducers combine two
// elements, of branches the shorter is taken. INT64_MAX stands for more.
int64_t StaticSteps(const Plan& plan);

}  // namespace toroid

#endif  // TOROID_RUNTIME_ENGINE_MEMORY_LIMIT_H_
