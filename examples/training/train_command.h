// `moe_transformer --train`: the flags, the run, what it prints and draws.
#ifndef TOROID_EXAMPLES_TRAINING_TRAIN_COMMAND_H_
#define TOROID_EXAMPLES_TRAINING_TRAIN_COMMAND_H_

#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "examples/training/moe_training.h"

namespace toroid {

struct TrainCommand {
  bool train = false;
  // Of flags that the command has for other things too: 0 if not given.
  int64_t devices = 0, layers = 0;
  uint64_t seed = 1;

  MoeTrainingOptions options = SmallMoeTraining(16);
  LoopOptions loop;
  std::string curves;     // An .svg; beside it the numbers as .tsv.
  std::string dump_step;  // A folder for the first steps (step_dump.h).
  int64_t beam = 4;       // Of the held-out names decoded at the end; 0: none.
};

// Adds --train and what belongs to it.
void AddTrainFlags(CLI::App& app, TrainCommand* command);

// Trains, decodes held-out names, prints to standard output, writes the curves.
// Errors: those of MoeTraining, RunTraining, DumpSteps and BeamDecoder; kUnavailable for curves that cannot be drawn.
absl::Status RunTrainCommand(const TrainCommand& command);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_TRAINING_TRAIN_COMMAND_H_
