// Which results of a program are new values of its arguments, as those of a training step are.
#pragma once

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// Pairs of an argument and an output, tensors of the flow graph.
using ProgramState = std::vector<std::pair<int, int>>;

// The longest run of outputs that are as the arguments are, in their order. It begins within the first few outputs, for a step
// may return a loss before its state, and at any argument, for a step may take weights before its cache; behind the first
// argument only a run of several counts, since one array may be like a result by chance. Of equal runs the first.
ProgramState LongestStateRun(const PreparedProgram& program,
                             absl::FunctionRef<bool(int argument, int output)> is_same);

// What the module says of memory that results share with arguments; empty if it says nothing.
ProgramState DonatedState(const PreparedProgram& program);

// By what the module says of memory that results share with arguments, else by the longest run of equal shapes.
ProgramState StateOf(const PreparedProgram& program);

}  // namespace toroid
