// Times of a program and of its collectives, predicted by a machine's model for reports on the program.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/instruction.h"

namespace toroid {

struct PredictedTimes {
  std::string machine;
  double step_seconds = 0;
  double collective_seconds = 0;  // All collectives together.
  // Seconds of all executions of one collective in a step. Keys: collectives of the program whose times were
  // asked for.
  absl::flat_hash_map<const Instruction*, double> of_collective;
  // If collectives ran beside ops that do not need them: the seconds of the step, and those of each collective, all executions
  // together, in which other ops compute. Zero and empty unless they were asked for.
  double overlapped_step_seconds = 0;
  absl::flat_hash_map<const Instruction*, double> hidden;
};

}  // namespace toroid
