// How much memory a run takes at its peak, known before it starts.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan/plan.h"

namespace toroid {

// Where a run holds most memory.
struct PeakEstimate {
  int64_t bytes = 0;
  const Instruction* instruction = nullptr;  // Null: on entry.
};

// Goes through the plan as a run does, with sizes in place of arrays (storage_model.h): values that are live, constants, what a
// result that cannot take an operand's storage needs beside it, and the scratch memory that kernels state (ScratchBytes).
//
// Where values decide, the least counts. A conditional takes the branch that holds least; a loop makes a few trips, the last of
// which holds what every later one does, unless its state fills slowly; a collective with one group gives all devices one
// result; computations that are called per element, such as reducers, hold nothing. An argument has one row, unless
// `uniform_arguments` says that it has `copies` rows; values that are made from such an argument have as many.
PeakEstimate EstimatePeak(const Plan& plan, const std::vector<bool>& uniform_arguments, int64_t copies);

}  // namespace toroid
