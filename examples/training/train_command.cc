#include "examples/training/train_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "examples/decoding/held_out_names.h"
#include "examples/training/curve_plot.h"
#include "examples/training/step_dump.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"

namespace toroid {
namespace {

constexpr int64_t kSmoothing = 20;  // Steps.
constexpr int kLanguageParts = 5;
constexpr int64_t kLanguageBatches = 4;
constexpr int64_t kDumpedSteps = 10;
constexpr int64_t kNamesShown = 10, kNamesJudged = 320, kNamesAtATime = 64;

MoeTrainingOptions WithSharedFlags(const TrainCommand& command) {
  MoeTrainingOptions options = command.options;
  options.model.devices = command.devices > 0 ? command.devices : options.model.experts;
  if (command.layers > 0) options.model.layers = command.layers;
  options.trainer.seed = command.seed;
  return options;
}

void PrintModel(MoeTraining& training) {
  const MoeTransformerConfig& config = training.config();
  std::printf(
      "MoE Transformer: %lld layers, %lld of them with %lld experts, %.2f M weights, on %lld simulated devices\n",
      static_cast<long long>(config.layers), static_cast<long long>(config.moe_layers()),
      static_cast<long long>(config.experts), static_cast<double>(training.NumWeights()) / 1e6,
      static_cast<long long>(config.devices));
  std::printf("%s\n", training.task().Summary().c_str());
  std::printf("%lld sentences a step, characters of English by cross entropy\n\n",
              static_cast<long long>(config.groups * config.sequences));
}

absl::Status WriteCurves(const LearningCurve& curve, const std::string& path) {
  RETURN_IF_ERROR(WriteFile(absl::StrCat(absl::StripSuffix(path, ".svg"), ".tsv"), curve.ToTsv()));
  const std::vector<PlotPanel> panels = {
      {"cross entropy",
       "step",
       "per character",
       false,
       {CurveLine(curve, "cross_entropy", absl::StrFormat("training, mean of %d steps", kSmoothing),
                  kSmoothing),
        CurveLine(curve, "held_out_cross_entropy", "held-out names")}},
      {"load of the experts",
       "step",
       "busiest expert / mean",
       false,
       {CurveLine(curve, "load_peak", absl::StrFormat("training, mean of %d steps", kSmoothing),
                  kSmoothing)}}};
  return PlotPanels(panels, path);
}

// Decodes held-out names on the mesh, and measures the quality.
absl::Status DecodeNames(MoeTraining& training, BeamDecoder& decoder, int64_t beam) {
  const TranslationTask& task = training.task();
  const Stopwatch stopwatch;
  ASSIGN_OR_RETURN(const Checkpoint state, training.trainer().Save());
  RETURN_IF_ERROR(decoder.SetWeights(state.names, state.arrays));
  ASSIGN_OR_RETURN(const std::vector<TranslatedName> names, TranslateHeldOut(task, kNamesJudged, decoder));
  std::printf("\nheld-out names, decoded with a beam of %lld:\n\n%s\n%s", static_cast<long long>(beam),
              NamesTable(task, names, kNamesShown).c_str(),
              QualityTable(static_cast<int64_t>(names.size()), Judge(task, names)).c_str());
  std::printf("  decoded in %.1f s; distance: edits / characters of the longer name\n", stopwatch.Seconds());
  return absl::OkStatus();
}

}  // namespace

void AddTrainFlags(CLI::App& app, TrainCommand* command) {
  constexpr int64_t kMost = int64_t{1} << 20;
  MoeTrainingOptions& options = command->options;
  CLI::Option* train =
      app.add_flag("--train", command->train,
                   "Train a small copy on real sentences instead: names of countries, languages, scripts and "
                   "currencies in some 150 languages, translated to English by characters");
  const std::string group = "Training (with --train)";
  const auto number = [&](const char* flag, int64_t& value, const char* help, int64_t least, int64_t most) {
    app.add_option(flag, value, help)
        ->capture_default_str()
        ->check(CLI::Range(least, most))
        ->group(group)
        ->needs(train);
  };
  const auto real = [&](const char* flag, double& value, const char* help, double least, double most) {
    app.add_option(flag, value, help)
        ->capture_default_str()
        ->check(CLI::Range(least, most))
        ->group(group)
        ->needs(train);
  };
  number("--experts", options.model.experts,
         "Experts of each MoE layer; as many devices unless --devices says otherwise", 2, 2048);
  number("--steps", command->loop.steps, "Steps in all, those before --resume included", 1, int64_t{1} << 40);
  number("--groups", options.model.groups, "Groups of a batch, cut over the devices", 1, kMost);
  number("--sequences", options.model.sequences, "Sentences of a group", 1, kMost);
  number("--length", options.task.length, "Characters of a sentence; longer ones are left out", 4, 4096);
  number("--model_width", options.model.model, "Width of the model", 4, kMost);
  number("--hidden", options.model.hidden, "Width inside feed-forward layers and experts", 1, kMost);
  number("--heads", options.model.heads, "Attention heads", 1, 1024);
  number("--head_dim", options.model.head_dim, "Width of a head", 1, kMost);
  real("--aux_weight", options.model.aux_weight,
       "Weight of the auxiliary loss that evens out the experts' load; 0: none", 0, 1e6);
  real("--dropout", options.model.dropout, "Share of activations dropped", 0, 0.99);
  real("--label_smoothing", options.model.label_smoothing,
       "Share of a label's probability spread over all characters", 0, 0.99);
  real("--learning_rate", options.adafactor.rate, "Adafactor's rate, before its decay", 0, 1e6);
  number("--flat_steps", options.adafactor.flat_steps, "Steps after which the rate decays as 1 / sqrt(step)",
         1, int64_t{1} << 30);
  real("--temperature", options.task.temperature, "A language is drawn by (its sentences)^(1 / temperature)",
       0.01, 1e6);
  app.add_option("--names", options.names,
                 "The sentences: those of the package iso-codes, or made-up languages")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "iso-codes", "made-up"}))
      ->group(group)
      ->needs(train);
  app.add_option("--threads", options.trainer.threads,
                 "Threads; 0: all processors. The result is the same for any")
      ->capture_default_str()
      ->check(CLI::Range(0, 256))
      ->group(group)
      ->needs(train);
  number("--evaluate_every", command->loop.evaluate_every,
         "Steps between evaluations on held-out names; 0: only at the end", 0, kMost);
  number("--beam", command->beam, "Hypotheses of each held-out name decoded at the end; 0: decode none", 0,
         64);
  number("--report_every", command->loop.report_every, "Steps between printed lines; 0: only at the end", 0,
         kMost);
  CLI::Option* checkpoint = app.add_option("--checkpoint", command->loop.checkpoint,
                                           "An .npz file to save the state to; it is replaced as a whole")
                                ->group(group)
                                ->needs(train);
  app.add_option("--save_every", command->loop.save_every, "Steps between saves; 0: only at the end")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, kMost))
      ->group(group)
      ->needs(checkpoint);
  CLI::Option* resume =
      app.add_flag("--resume", command->loop.resume,
                   "Continue from the checkpoint; the results have the same bits as without a stop")
          ->group(group)
          ->needs(checkpoint);
  app.add_option(
         "--dump_step", command->dump_step,
         "Write the step's program, the state and the inputs of ten steps to this folder, for replay_step.py to repeat by "
         "XLA")
      ->group(group)
      ->needs(train)
      ->excludes(resume);
  app.add_option("--curves", command->curves,
                 "Draw loss and load to this .svg; the numbers go to a .tsv beside it")
      ->check([](const std::string& path) {
        return absl::EndsWith(path, ".svg") ? std::string() : std::string("the name must end in .svg");
      })
      ->group(group)
      ->needs(train);
}

absl::Status RunTrainCommand(const TrainCommand& command) {
  std::string says;
  const Stopwatch making;
  ASSIGN_OR_RETURN(const std::unique_ptr<MoeTraining> training,
                   MoeTraining::Create(WithSharedFlags(command), &says));
  if (!says.empty()) std::printf("%s\n", says.c_str());
  PrintModel(*training);
  std::printf("step's program built, differentiated and partitioned in %.2f s\n", making.Seconds());
  std::fflush(stdout);
  // Made first, so that an error in the decoder's flags is found before training.
  std::unique_ptr<BeamDecoder> decoder;
  if (command.beam > 0) {
    ASSIGN_OR_RETURN(decoder, MakeTaskDecoder(training->task(), training->config(), {.beam = command.beam},
                                              kNamesAtATime, command.options.trainer.threads));
  }
  const int64_t dumped = std::min(kDumpedSteps, command.loop.steps);
  if (!command.dump_step.empty()) {
    RETURN_IF_ERROR(DumpSteps(training->trainer(), training->Data(), dumped, command.dump_step));
  }
  LoopOptions loop = command.loop;
  loop.report = [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  loop.reported = {"cross_entropy", "held_out_cross_entropy", "load_peak"};
  const Stopwatch stopwatch;
  ASSIGN_OR_RETURN(const LearningCurve curve, RunTraining(training->trainer(), training->Data(), loop));
  std::printf("\ntrained in %.1f s\n\n", stopwatch.Seconds());
  if (!command.dump_step.empty()) RETURN_IF_ERROR(DumpLosses(curve, loop.loss, dumped, command.dump_step));
  ASSIGN_OR_RETURN(const auto languages, training->LossByLanguages(kLanguageParts, kLanguageBatches));
  std::printf("  held-out names by language    sentences to train on    cross entropy per character\n");
  for (const MoeTraining::LanguagesLoss& part : languages) {
    const auto& names = training->task().languages();
    std::printf("  %-28s %22.0f %30s\n",
                absl::StrCat(names[part.first].name, " to ", names[part.last].name).c_str(),
                part.training_sentences,
                part.any ? absl::StrFormat("%.4f", part.cross_entropy).c_str() : "none seen");
  }
  if (decoder != nullptr) RETURN_IF_ERROR(DecodeNames(*training, *decoder, command.beam));
  if (command.curves.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(WriteCurves(curve, command.curves));
  std::printf("\ncurves: %s\n", command.curves.c_str());
  return absl::OkStatus();
}

}  // namespace toroid
