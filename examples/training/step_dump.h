// Writes the first steps of a training run to files, for other compilers to repeat (replay_step.py).
//
//   step.hlo.pb     the step's program, for one device
//   state.npz       the initial state, in the order of the parameters
//   inputs_K.npz    seed and inputs of step K, the parameters after the state
//   losses.tsv      the losses of these steps
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "examples/training/learning_curve.h"
#include "examples/training/trainer.h"
#include "examples/training/training_loop.h"

namespace toroid {

// Writes everything except the losses, for the next `steps` steps. Creates the folder if it does not exist.
// Errors: those of Trainer::Save and of writing.
absl::Status DumpSteps(const Trainer& trainer, const TrainingData& data, int64_t steps,
                       const std::string& folder);

// Writes the first `steps` values of the series `name`.
absl::Status DumpLosses(const LearningCurve& curve, const std::string& name, int64_t steps,
                        const std::string& folder);

}  // namespace toroid
