// How much memory, and how many steps, a run may take.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/plan/plan.h"

namespace toroid {

// Default limit for the bytes of live values: four fifths of the memory that the machine and this process's
// control groups (version 1 or 2) have available.
int64_t DefaultMaxBytes();

// Where the values of a run take most memory.
struct PeakEstimate {
  int64_t bytes = 0;
  const Instruction* instruction = nullptr;  // Null: on entry.
};

// A lower bound of the bytes a run of the plan holds at its peak, from the sizes the program states. It
// counts the values that are live while an instruction runs, and the scratch memory that its kernel states (ScratchBytes);
// operands that die there count where the kernel cannot take their place. A value that may
// share storage with another counts 0. A value counts one row, unless `uniform_arguments` says that a
// parameter it depends on has `copies` rows. A conditional counts its smallest branch; a loop counts the
// larger of its condition and body.
PeakEstimate EstimatePeak(const Plan& plan, const std::vector<bool>& uniform_arguments, int64_t copies);

// Steps that a run of the plan takes if every called computation runs once: loops make one trip, reducers
// combine two elements, conditionals take the shortest branch. INT64_MAX: that many or more.
int64_t StaticSteps(const Plan& plan);

}  // namespace toroid
