// Runs a random program unpartitioned and partitioned.
#ifndef TOROID_TESTS_RANDOM_CHECK_PROGRAM_H_
#define TOROID_TESTS_RANDOM_CHECK_PROGRAM_H_

#include <string>

#include "tests/random/random_program.h"

namespace toroid {

// Returns an empty string if the results are equal, else the difference and the program.
std::string CheckRandomProgram(const RandomProgram& program);

}  // namespace toroid

#endif  // TOROID_TESTS_RANDOM_CHECK_PROGRAM_H_
