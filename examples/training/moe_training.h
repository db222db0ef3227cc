// The MoE Transformer of examples/moe, small, learning to translate names of examples/data.
#ifndef TOROID_EXAMPLES_TRAINING_MOE_TRAINING_H_
#define TOROID_EXAMPLES_TRAINING_MOE_TRAINING_H_

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
  // Sizes, groups and rates; vocabularies, padding and length are made to fit the task.
  MoeTransformerConfig model;
  AdafactorOptions adafactor;
  TaskOptions task;
  TrainerOptions trainer;  // Its devices are the model's.
  int64_t held_out_batches = 8;
  std::string names = "auto";  // "iso-codes", "made-up", or the first where it is there.
};

// A model of about a million weights with this many experts: 4 layers, 2 of them with experts; a step has the same sentences and
// the same work per token whatever the experts are.
MoeTrainingOptions SmallMoeTraining(int64_t experts);

class MoeTraining {
 public:
  // `says`: what one should know of where the sentences are from; a line or none.
  // Errors: those of TranslationTask, BuildTrainingStep, Trainer; kNotFound without the sentences asked for.
  static absl::StatusOr<std::unique_ptr<MoeTraining>> Create(const MoeTrainingOptions& options,
                                                             std::string* says);

  const TranslationTask& task() const { return *task_; }
  const MoeTransformerConfig& config() const { return options_.model; }
  Trainer& trainer() { return *trainer_; }
  // Elements of all weights.
  int64_t NumWeights() const { return num_weights_; }
  // Valid while this lives.
  TrainingData Data() const;

  // The mean cross entropy of held-out sentences of some languages, first to last, among those of others.
  struct LanguagesLoss {
    int first = 0, last = 0;
    double training_sentences = 0;  // Per language, geometric mean.
    double cross_entropy = 0;
    bool any = false;  // Whether there was a name of these languages in what was looked at.
  };
  // `parts` parts of the languages, in their order: most sentences first.
  absl::StatusOr<std::vector<LanguagesLoss>> LossByLanguages(int parts, int64_t batches);

 private:
  explicit MoeTraining(const MoeTrainingOptions& options) : options_(options) {}

  MoeTrainingOptions options_;
  std::unique_ptr<TranslationTask> task_;
  std::unique_ptr<Trainer> trainer_;
  int64_t num_weights_ = 0;
};

}  // namespace toroid

#endif  // TOROID_EXAMPLES_TRAINING_MOE_TRAINING_H_
