#include "examples/training/decode_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "examples/decoding/held_out_names.h"
#include "examples/training/saved_model.h"
#include "hlo/base/status.h"
#include "simulator/report/summary.h"

namespace toroid {
namespace {

constexpr int64_t kSentencesAtATime = 64;

absl::Status Predict(const DecodeCommand& command) {
  const DecodePredictionOptions& options = command.prediction;
  ASSIGN_OR_RETURN(const DecodePrediction predicted, PredictDecoding(options));
  std::printf(
      "%s, one decoding step: %lld sentences on each of %lld cores, a beam of %lld, room for %lld words each;\n",
      options.model.c_str(), static_cast<long long>(options.sentences),
      static_cast<long long>(predicted.cores), static_cast<long long>(options.beam),
      static_cast<long long>(options.steps));
  std::printf("an expert takes %lld of the %lld tokens of a core\n",
              static_cast<long long>(predicted.capacity),
              static_cast<long long>(options.sentences * options.beam));
  std::printf("  built in %.2f s, partitioned in %.2f s, simulated in %.2f s\n\n", predicted.build_seconds,
              predicted.partition_seconds, predicted.simulate_seconds);
  std::printf("%s\n", SummaryText(predicted.prediction, command.width).c_str());
  std::printf(
      "%.3g words a second on %s, predicted: one of each of %lld sentences in %.3g ms; %.3g of hypotheses\n",
      predicted.tokens_per_second, predicted.machine.c_str(), static_cast<long long>(predicted.sentences),
      static_cast<double>(predicted.prediction.step_ps) * 1e-9,
      predicted.tokens_per_second * static_cast<double>(options.beam));
  return absl::OkStatus();
}

absl::StatusOr<int> FindLanguage(const TranslationTask& task, const std::string& name) {
  if (const std::optional<int> found = task.FindLanguage(name)) return *found;
  const std::string all = absl::StrJoin(
      task.languages(), " ", [](std::string* out, const auto& language) { *out += language.name; });
  return absl::InvalidArgumentError(
      absl::StrCat("--language: the model was not trained on ", absl::CHexEscape(name), "; it knows ", all));
}

absl::Status TranslateOne(const DecodeCommand& command, const TranslationTask& task, int language,
                          BeamDecoder& decoder) {
  absl::StatusOr<std::vector<int32_t>> tokens = task.EncodeSource(language, command.sentence);
  if (!tokens.ok()) return Annotate(tokens.status(), "--sentence");
  const Literal source = Literal::Array<int32_t>({1, 1, task.length()}, absl::MakeConstSpan(*tokens));
  ASSIGN_OR_RETURN(const auto sentences, decoder.Decode(source));
  std::printf("  score   log p   English\n");
  for (const DecodedSentence& hypothesis : sentences[0]) {
    std::printf("%7.3f %7.3f   %s%s\n", hypothesis.score, hypothesis.log_probability,
                task.target_vocabulary().Decode(hypothesis.words).c_str(),
                hypothesis.is_finished ? "" : "...");
  }
  return absl::OkStatus();
}

}  // namespace

void AddDecodeFlags(CLI::App& app, DecodeCommand* command) {
  constexpr int64_t kMost = int64_t{1} << 20;
  CLI::Option* checkpoint =
      app.add_option("--checkpoint", command->checkpoint,
                     "What `moe_transformer --train --checkpoint=FILE` wrote, or a folder with it");
  app.add_option("--beam", command->prediction.beam,
                 "Hypotheses of a sentence; 1: the most probable word at each step")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  CLI::Option* language = app.add_option("--language", command->language,
                                         "Language of the sentence, as in the table of held-out names")
                              ->needs(checkpoint);
  CLI::Option* sentence =
      app.add_option("--sentence", command->sentence, "What to translate; else held-out names")
          ->needs(checkpoint);
  sentence->needs(language);
  language->needs(sentence);
  app.add_option("--names", command->names, "Held-out names to translate")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, kMost))
      ->needs(checkpoint)
      ->excludes(sentence);
  app.add_option("--devices", command->devices, "Simulated devices; else as many as it was trained on")
      ->check(CLI::Range(1, 2048))
      ->needs(checkpoint);
  app.add_option("--length_power", command->length_power, "Scores are log p / ((5 + words) / 6)^length_power")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 10.0))
      ->needs(checkpoint);
  app.add_option("--threads", command->threads, "Threads; 0: all processors. The result is the same for any")
      ->capture_default_str()
      ->check(CLI::Range(0, 256))
      ->needs(checkpoint);

  CLI::Option* predict =
      app.add_flag("--predict", command->predict,
                   "Predict a decoding step of a model of GShard's Table 1 on its TPU v3 slice instead")
          ->excludes(checkpoint);
  const std::string group = "Prediction (with --predict)";
  DecodePredictionOptions& options = command->prediction;
  app.add_option("--model", options.model, "Experts and layers")
      ->capture_default_str()
      ->group(group)
      ->needs(predict);
  app.add_option("--sentences", options.sentences, "Sentences of each core")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096))
      ->group(group)
      ->needs(predict);
  app.add_option("--steps", options.steps, "Words of a sentence, for which there is room on the mesh")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536))
      ->group(group)
      ->needs(predict);
  app.add_option(
         "--capacity", options.capacity,
         "Tokens of each core that an expert takes; 0: all; else twice an even share, at least 1, as in training")
      ->check(CLI::Range(0, 4096 * 256))
      ->group(group)
      ->needs(predict);
  app.add_option("--width", command->width, "Columns of the tables")
      ->capture_default_str()
      ->check(CLI::Range(40, 1000))
      ->group(group)
      ->needs(predict);
  app.callback([command] {
    if (!command->checkpoint.empty() || command->predict) return;
    throw CLI::ValidationError(
        "--checkpoint",
        "is needed to translate: train one with `bazel run -c opt //examples:moe_transformer -- --train "
        "--checkpoint=/tmp/moe.npz` and give it here; or predict a large model with --predict");
  });
}

absl::Status RunDecodeCommand(const DecodeCommand& command) {
  if (command.predict) return Predict(command);
  ASSIGN_OR_RETURN(SavedModel saved, OpenSavedModel(command.checkpoint));
  const TranslationTask& task = *saved.task;
  if (command.devices > 0) saved.model.devices = command.devices;
  BeamOptions search;
  search.beam = command.prediction.beam;
  search.length_power = command.length_power;
  const bool is_one = !command.language.empty();
  int language = 0;
  if (is_one) {
    ASSIGN_OR_RETURN(language, FindLanguage(task, command.language));
  }
  const int64_t at_a_time = is_one ? 1 : std::min(command.names, kSentencesAtATime);
  ASSIGN_OR_RETURN(const std::unique_ptr<BeamDecoder> decoder,
                   MakeTaskDecoder(task, saved.model, search, at_a_time, command.threads));
  RETURN_IF_ERROR(SetSavedWeights(saved, *decoder));
  std::printf("%s: %lld layers, %lld experts, on %lld simulated devices, a beam of %lld\n\n",
              saved.path.c_str(), static_cast<long long>(saved.model.layers),
              static_cast<long long>(saved.model.experts), static_cast<long long>(saved.model.devices),
              static_cast<long long>(search.beam));
  if (is_one) return TranslateOne(command, task, language, *decoder);
  ASSIGN_OR_RETURN(const std::vector<TranslatedName> names, TranslateHeldOut(task, command.names, *decoder));
  std::printf("%s\n%s", NamesTable(task, names, command.names).c_str(),
              QualityTable(static_cast<int64_t>(names.size()), Judge(task, names)).c_str());
  return absl::OkStatus();
}

}  // namespace toroid
