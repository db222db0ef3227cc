// One small program per opcode, with the result it has by the documented semantics.
#ifndef TOROID_TESTS_RUNTIME_KERNELS_OP_PROGRAMS_H_
#define TOROID_TESTS_RUNTIME_KERNELS_OP_PROGRAMS_H_

#include <string>
#include <vector>

namespace toroid {

struct OpProgram {
  std::string opcode;        // Wire name; the program contains it.
  std::string body;          // Instructions of the entry, without parameters.
  std::string expected;      // Result in text; of several devices, joined by " | ".
  std::string computations;  // What stands before the entry.
  int devices = 1;           // Partitions it runs on.
};

const std::vector<OpProgram>& OpPrograms();

}  // namespace toroid

#endif  // TOROID_TESTS_RUNTIME_KERNELS_OP_PROGRAMS_H_
