// When each tensor of a program holds memory, before it is known how the program is cut.
//
// Instructions are numbered in the order in which they run: those of a loop's body lie between the instructions before the loop and
// the loop itself. A tensor lives from the instruction that makes it to its last use; arguments and results live to the end.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioner/prepare/prepared_program.h"

namespace toroid {

struct TensorLife {
  int64_t begin = 0, end = 0;  // [begin, end), in numbers of instructions.
  // False for a value that a compiler makes where it is read (hlo/analysis/memory_steps.h), and for one that takes the place of an
  // operand.
  bool is_written = false;
};

// By tensor of the flow graph.
std::vector<TensorLife> LivesOf(const PreparedProgram& program);

}  // namespace toroid
