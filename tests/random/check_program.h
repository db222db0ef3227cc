// Runs a random program unpartitioned and partitioned.
#pragma once

#include <string>

#include "tests/random/random_program.h"

namespace toroid {

// Returns an empty string if the results are equal, else the difference and the program.
std::string CheckRandomProgram(const RandomProgram& program);

}  // namespace toroid
