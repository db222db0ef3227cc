// `moe_transformer --train`: its flags, the run, its output and drawings.
#pragma once

#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "examples/training/moe_training.h"

namespace toroid {

struct TrainCommand {
  bool train = false;
  // Flags that moe_transformer also takes without --train. 0 devices or layers: the flag is not given.
  int64_t devices = 0, layers = 0;
  uint64_t seed = 1;

  MoeTrainingOptions options = SmallMoeTraining(16);
  LoopOptions loop;
  std::string curves;     // An .svg file; the numbers go to a .tsv beside it.
  std::string dump_step;  // A folder for the first steps (step_dump.h).
  int64_t beam = 4;       // Hypotheses of the held-out names decoded at the end; 0: decodes none.
};

// Adds --train and its flags.
void AddTrainFlags(CLI::App& app, TrainCommand* command);

// Trains, decodes held-out names, prints to standard output, writes the curves.
// Errors: those of MoeTraining, RunTraining, DumpSteps and BeamDecoder; kUnavailable for curves that cannot
// be drawn.
absl::Status RunTrainCommand(const TrainCommand& command);

}  // namespace toroid
