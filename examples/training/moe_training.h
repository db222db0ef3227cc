// Trains a small MoE Transformer of examples/moe to translate the names of examples/data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "examples/data/translation_task.h"
#include "examples/moe/adafactor.h"
#include "examples/moe/config.h"
#include "examples/training/trainer.h"
#include "examples/training/training_loop.h"

namespace toroid {

struct MoeTrainingOptions {
  // Sizes, groups and rates; vocabularies, padding and length are set from the task.
  MoeTransformerConfig model;
  AdafactorOptions adafactor;
  TaskOptions task;
  TrainerOptions trainer;  // Its devices are set from the model.
  int64_t held_out_batches = 8;
  std::string names = "auto";  // "iso-codes", "made-up", or the first if it is installed.
};

// A model of about a million weights with this many experts: 4 layers, 2 of them with experts. The sentences
// of a step and the work per token do not depend on the number of experts.
MoeTrainingOptions SmallMoeTraining(int64_t experts);

class MoeTraining {
 public:
  // `says`: a line for the user about the source of the sentences, or empty.
  // Errors: those of TranslationTask, BuildTrainingStep, Trainer; kNotFound if the sentences asked for are
  // not installed.
  static absl::StatusOr<std::unique_ptr<MoeTraining>> Create(const MoeTrainingOptions& options,
                                                             std::string* says);

  const TranslationTask& task() const { return *task_; }
  const MoeTransformerConfig& config() const { return options_.model; }
  Trainer& trainer() { return *trainer_; }
  // Number of elements of all weights.
  int64_t NumWeights() const { return num_weights_; }
  // Valid as long as this object lives.
  TrainingData Data() const;

  // The mean cross entropy of the held-out sentences of languages `first` to `last`, in batches with the
  // others.
  struct LanguagesLoss {
    int first = 0, last = 0;
    double training_sentences = 0;  // Per language, geometric mean.
    double cross_entropy = 0;
    bool any = false;  // Whether the batches had a name of these languages.
  };
  // Splits the languages into `parts` parts, in their order: most sentences first.
  absl::StatusOr<std::vector<LanguagesLoss>> LossByLanguages(int parts, int64_t batches);

 private:
  explicit MoeTraining(const MoeTrainingOptions& options) : options_(options) {}

  MoeTrainingOptions options_;
  std::unique_ptr<TranslationTask> task_;
  std::unique_ptr<Trainer> trainer_;
  int64_t num_weights_ = 0;
};

}  // namespace toroid
