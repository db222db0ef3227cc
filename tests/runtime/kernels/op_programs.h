// One small program per opcode, with its result by the documented semantics.
#pragma once

#include <string>
#include <vector>

namespace toroid {

struct OpProgram {
  std::string opcode;        // Wire name; the program contains it.
  std::string body;          // Instructions of the entry, without parameters.
  std::string expected;      // Result in text; the results of several devices are joined by " | ".
  std::string computations;  // Text before the entry.
  int devices = 1;           // Number of partitions.
};

const std::vector<OpProgram>& OpPrograms();

}  // namespace toroid
