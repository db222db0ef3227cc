#include "examples/training/moe_training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "examples/moe/training_step.h"
#include "examples/training/sentences.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// Everything that a run depends on except the number of its steps and its threads.
nlohmann::json Configuration(const MoeTrainingOptions& options, const std::string& origin,
                             const TranslationTask& sentences) {
  const MoeTransformerConfig& model = options.model;
  const TaskOptions& task = options.task;
  return {{"devices", model.devices},
          {"layers", model.layers},
          {"experts", model.experts},
          {"groups", model.groups},
          {"sequences", model.sequences},
          {"length", task.length},
          {"model", model.model},
          {"hidden", model.hidden},
          {"heads", model.heads},
          {"head_dim", model.head_dim},
          {"source_vocabulary", model.source_vocabulary},
          {"target_vocabulary", model.target_vocabulary},
          {"aux_weight", model.aux_weight},
          {"dropout", model.dropout},
          {"label_smoothing", model.label_smoothing},
          {"learning_rate", options.adafactor.rate},
          {"flat_steps", options.adafactor.flat_steps},
          {"held_out", task.held_out},
          {"temperature", task.temperature},
          {"min_sentences", task.min_sentences},
          {"seed", options.trainer.seed},
          {"sentences", origin},
          {"sentences_sum", sentences.Fingerprint()}};
}

absl::StatusOr<TrainingProgram> MakeProgram(const MoeTrainingOptions& options, const std::string& origin,
                                            const TranslationTask& task, int64_t* num_weights) {
  TrainingOptions step_options;
  step_options.adafactor = options.adafactor;
  ASSIGN_OR_RETURN(TrainingStep step, BuildTrainingStep(options.model, step_options));
  TrainingProgram program;
  program.configuration = Configuration(options, origin, task);
  *num_weights = 0;
  for (size_t i = 0; i < step.state.size(); ++i) {
    const StateArray& array = step.state[i];
    program.state.push_back({array.name, array.shape, array.mean, array.stddev});
    if (array.kind != StateArray::Kind::kWeight) continue;
    program.evaluation_state.push_back(static_cast<int>(i));
    *num_weights += array.shape.NumElements();
  }
  program.step = std::move(step.module);
  program.metrics = program.evaluation_metrics = std::move(step.metrics);
  ASSIGN_OR_RETURN(program.evaluation, BuildEvaluation(options.model));
  return program;
}

}  // namespace

MoeTrainingOptions SmallMoeTraining(int64_t experts) {
  MoeTrainingOptions options;
  MoeTransformerConfig& model = options.model;
  model.experts = model.devices = experts;
  model.layers = 4;
  model.groups = 64;
  model.sequences = 2;
  model.model = 32;
  model.hidden = 128;
  model.heads = 4;
  model.head_dim = 8;
  // No dropout or label smoothing: runs are too short to learn the names by heart.
  model.dropout = model.label_smoothing = 0;
  options.adafactor.rate = 2;
  model.aux_weight = 0.02;
  model.source_vocabulary = options.task.source_vocabulary;
  model.target_vocabulary = options.task.target_vocabulary;
  return options;
}

absl::StatusOr<std::unique_ptr<MoeTraining>> MoeTraining::Create(const MoeTrainingOptions& options,
                                                                 std::string* says) {
  std::unique_ptr<MoeTraining> training(new MoeTraining(options));
  MoeTrainingOptions& own = training->options_;
  ASSIGN_OR_RETURN(Corpus corpus, ReadSentences(own.names, own.trainer.seed, says));
  const std::string origin = corpus.origin;
  own.task.source_vocabulary = own.model.source_vocabulary;
  own.task.target_vocabulary = own.model.target_vocabulary;
  own.task.seed = own.trainer.seed;
  ASSIGN_OR_RETURN(TranslationTask task, TranslationTask::Create(std::move(corpus), own.task));
  training->task_ = std::make_unique<TranslationTask>(std::move(task));
  own.model.source_vocabulary = training->task_->source_vocabulary().size();
  own.model.target_vocabulary = training->task_->target_vocabulary().size();
  own.model.sequence_length = own.task.length;
  own.model.padding = true;
  own.trainer.devices = own.model.devices;
  ASSIGN_OR_RETURN(TrainingProgram program,
                   MakeProgram(own, origin, *training->task_, &training->num_weights_));
  ASSIGN_OR_RETURN(training->trainer_, Trainer::Create(std::move(program), own.trainer));
  return training;
}

TrainingData MoeTraining::Data() const {
  TrainingData data;
  const int64_t groups = options_.model.groups, sequences = options_.model.sequences;
  data.training = [this, groups, sequences](int64_t step) {
    return task_->TrainingBatch(step, groups, sequences).Inputs();
  };
  for (int64_t i = 0; i < options_.held_out_batches; ++i) {
    data.held_out.push_back(
        task_->HeldOutBatch(TranslationTask::HeldOut::kBySentences, i, groups, sequences).Inputs());
  }
  return data;
}

absl::StatusOr<std::vector<MoeTraining::LanguagesLoss>> MoeTraining::LossByLanguages(int parts,
                                                                                     int64_t batches) {
  const int languages = static_cast<int>(task_->languages().size());
  parts = std::min(parts, languages);
  std::vector<LanguagesLoss> losses;
  for (int part = 0; part < parts; ++part) {
    LanguagesLoss loss;
    loss.first = part * languages / parts;
    loss.last = (part + 1) * languages / parts - 1;
    double logs = 0;
    for (int k = loss.first; k <= loss.last; ++k)
      logs += std::log(static_cast<double>(task_->languages()[k].training));
    loss.training_sentences = std::exp(logs / (loss.last - loss.first + 1));
    std::vector<std::vector<Literal>> inputs;
    for (int64_t i = 0; i < batches; ++i) {
      const TranslationBatch batch = task_->HeldOutBatch(TranslationTask::HeldOut::kByLanguages, i,
                                                         options_.model.groups, options_.model.sequences);
      const TranslationBatch of_part = WithLabelsOf(batch, *task_, loss.first, loss.last);
      const auto labels = of_part.labels.data<int32_t>();
      loss.any |= std::any_of(labels.begin(), labels.end(), [](int32_t label) { return label != 0; });
      inputs.push_back(of_part.Inputs());
    }
    ASSIGN_OR_RETURN(const Metrics metrics, EvaluateAll(*trainer_, inputs, "tokens"));
    if (const Literal* value = metrics.Find("cross_entropy")) loss.cross_entropy = value->data<float>()[0];
    losses.push_back(loss);
  }
  return losses;
}

}  // namespace toroid
