// When each tensor of a program holds memory, before it is known how the program is cut.
//
// The program is taken as a compiler would fuse and order it (hlo/analysis/peak_memory.h), whole arrays standing for their
// parts. Steps are numbered in the order in which they run: those of a loop's body lie between the steps before the loop and
// those behind it. A tensor lives from the step that makes it to the last one that reads it; arguments and results live to the
// end. What takes the place of another array, as the state of a loop that of its first value, begins where that one ends.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioner/plan/program_steps.h"

namespace toroid {

struct TensorLife {
  int64_t begin = 0, end = 0;  // [begin, end), in numbers of steps.
  // False for a value that is made where it is read, is another name of an array, lies in the host's memory, or belongs to the
  // caller of its computation.
  bool is_written = false;
};

// By tensor of the flow graph. Values that each device makes where it needs them (IsMadeAnywhere) hold no memory.
std::vector<TensorLife> LivesOf(const PreparedProgram& program, const ProgramSteps& steps);

// The most bytes that live at a time on one device under a plan that decides all ops.
int64_t PeakOfPlan(const PreparedProgram& program, const std::vector<TensorLife>& lives, const Plan& plan);

}  // namespace toroid
