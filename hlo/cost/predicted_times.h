// What a machine's model says of a program's communication, for whoever explains the program.
#ifndef TOROID_HLO_COST_PREDICTED_TIMES_H_
#define TOROID_HLO_COST_PREDICTED_TIMES_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/instruction.h"

namespace toroid {

struct PredictedTimes {
  std::string machine;
  double step_seconds = 0;
  double collective_seconds = 0;  // Of all collectives together.
  // Of the program that was asked about: seconds of all executions in a step.
  absl::flat_hash_map<const Instruction*, double> of_collective;
};

}  // namespace toroid

#endif  // TOROID_HLO_COST_PREDICTED_TIMES_H_
