// training_experts: small MoE Transformers with 8 to 64 experts learn to translate names, with equal steps
// and equal work per token.
//
//   bazel run -c opt //benchmarks:training_experts
// Trains each on a simulated mesh of as many devices (examples/training), the largest also without the
// auxiliary loss, and writes benchmarks/results/training_experts.txt, with plots beside it: loss by experts,
// the experts' load, and which languages gain, as in GShard's figure 6 by BLEU.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/gnuplot.h"
#include "examples/training/curve_plot.h"
#include "examples/training/moe_training.h"
#include "hlo/base/command_line.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"

namespace toroid {
namespace {

constexpr int64_t kSmoothing = 50;  // Steps.
constexpr int kLanguageParts = 10;
constexpr int64_t kLanguageBatches = 8;

struct Request {
  std::vector<int64_t> experts = {8, 16, 32, 64};
  int64_t steps = 1500;
  uint64_t seed = 1;
};

struct Run {
  int64_t experts = 0;
  double aux_weight = 0;
  double weights = 0, seconds = 0;
  std::string sentences;
  LearningCurve curve;
  std::vector<MoeTraining::LanguagesLoss> languages;
  std::vector<std::string> language_names;  // By part: "FIRST to LAST".
};

// The last smoothed value.
double Last(const LearningCurve& curve, absl::string_view name, int64_t smoothing) {
  const PlotLine line = CurveLine(curve, name, "", smoothing);
  return line.y.empty() ? 0 : line.y.back();
}

absl::StatusOr<Run> Train(int64_t experts, bool auxiliary, const Request& request) {
  MoeTrainingOptions options = SmallMoeTraining(experts);
  if (!auxiliary) options.model.aux_weight = 0;
  options.trainer.seed = request.seed;
  Run run = {.experts = experts, .aux_weight = options.model.aux_weight};
  std::string says;
  ASSIGN_OR_RETURN(const std::unique_ptr<MoeTraining> training, MoeTraining::Create(options, &says));
  run.weights = static_cast<double>(training->NumWeights());
  run.sentences = training->task().Summary();
  LoopOptions loop;
  loop.steps = request.steps;
  loop.evaluate_every = std::max<int64_t>(1, request.steps / 20);
  const Stopwatch stopwatch;
  ASSIGN_OR_RETURN(run.curve, RunTraining(training->trainer(), training->Data(), loop));
  run.seconds = stopwatch.Seconds();
  ASSIGN_OR_RETURN(run.languages, training->LossByLanguages(kLanguageParts, kLanguageBatches));
  for (const MoeTraining::LanguagesLoss& part : run.languages) {
    const auto& names = training->task().languages();
    run.language_names.push_back(absl::StrCat(names[part.first].name, " to ", names[part.last].name));
  }
  return run;
}

std::string LossTable(const std::vector<Run>& runs) {
  std::string text = absl::StrFormat("%-8s %-10s %9s | %9s %9s | %10s %10s | %9s\n", "experts", "auxiliary",
                                     "weights", "training", "held-out", "load, step", "load,", "seconds");
  absl::StrAppendFormat(&text, "%-8s %-10s %9s | %9s %9s | %10d %10s | %9s\n", "", "loss", "", "", "",
                        kSmoothing, "the end", "");
  for (const Run& run : runs) {
    const LearningCurve::Series* load = run.curve.Find("load_peak");
    const LearningCurve::Series smooth =
        load == nullptr ? LearningCurve::Series() : Smoothed(*load, kSmoothing);
    const size_t early = std::min<size_t>(kSmoothing, smooth.points.size());
    absl::StrAppendFormat(&text, "%-8d %-10s %7.2f M | %9.4f %9.4f | %10.2f %10.2f | %9.0f\n", run.experts,
                          run.aux_weight > 0 ? absl::StrFormat("%g", run.aux_weight) : "none",
                          run.weights / 1e6, Last(run.curve, "cross_entropy", kSmoothing),
                          Last(run.curve, "held_out_cross_entropy", 1),
                          early == 0 ? 0.0 : smooth.points[early - 1].value,
                          Last(run.curve, "load_peak", kSmoothing), run.seconds);
  }
  return text;
}

// Cross entropy by languages, for the runs with the auxiliary loss.
std::string LanguagesTable(const std::vector<const Run*>& runs) {
  std::string text = absl::StrFormat("%-22s %10s |", "languages", "sentences");
  for (const Run* run : runs) absl::StrAppendFormat(&text, " %8s", absl::StrCat(run->experts, " exp."));
  absl::StrAppend(&text, " |     gain\n");
  for (size_t part = 0; part < runs[0]->languages.size(); ++part) {
    absl::StrAppendFormat(&text, "%-22s %10.0f |", runs[0]->language_names[part],
                          runs[0]->languages[part].training_sentences);
    const auto& first = runs.front()->languages[part];
    if (!first.any) {
      absl::StrAppend(&text, " no names seen\n");
      continue;
    }
    for (const Run* run : runs) absl::StrAppendFormat(&text, " %8.4f", run->languages[part].cross_entropy);
    absl::StrAppendFormat(&text, " | %8.4f\n",
                          first.cross_entropy - runs.back()->languages[part].cross_entropy);
  }
  return text;
}

PlotPanel CurvesPanel(const std::vector<const Run*>& runs, const char* title, const char* series,
                      int64_t smoothing) {
  PlotPanel panel = {title, "step", "cross entropy per character", false, {}};
  for (const Run* run : runs) {
    panel.lines.push_back(CurveLine(run->curve, series, absl::StrCat(run->experts, " experts"), smoothing));
  }
  return panel;
}

PlotPanel LoadPanel(const std::vector<Run>& runs, int64_t experts) {
  PlotPanel panel = {
      absl::StrCat("load of ", experts, " experts"), "step", "busiest expert / mean", false, {}};
  for (const Run& run : runs) {
    if (run.experts != experts) continue;
    panel.lines.push_back(CurveLine(run.curve, "load_peak",
                                    run.aux_weight > 0 ? "with the auxiliary loss" : "without", kSmoothing));
  }
  return panel;
}

PlotPanel GainPanel(const std::vector<const Run*>& runs) {
  PlotPanel panel = {absl::StrCat("gain over ", runs.front()->experts, " experts by language"),
                     "sentences of a language",
                     "less cross entropy",
                     true,
                     {}};
  for (size_t i = 1; i < runs.size(); ++i) {
    PlotLine line = {absl::StrCat(runs[i]->experts, " experts"), {}, {}, true};
    for (size_t part = 0; part < runs[i]->languages.size(); ++part) {
      if (!runs[i]->languages[part].any) continue;
      line.x.push_back(runs[i]->languages[part].training_sentences);
      line.y.push_back(runs.front()->languages[part].cross_entropy - runs[i]->languages[part].cross_entropy);
    }
    panel.lines.push_back(std::move(line));
  }
  return panel;
}

absl::Status Experiment(const Request& request) {
  std::vector<Run> runs;
  for (const int64_t experts : request.experts) {
    for (const bool auxiliary : {true, false}) {
      if (!auxiliary && experts != request.experts.back()) continue;
      ASSIGN_OR_RETURN(Run run, Train(experts, auxiliary, request));
      std::printf("%lld experts, auxiliary loss %s: %.0f s\n", static_cast<long long>(experts),
                  auxiliary ? "on" : "off", run.seconds);
      std::fflush(stdout);
      runs.push_back(std::move(run));
    }
  }
  std::vector<const Run*> with;
  for (const Run& run : runs) {
    if (run.aux_weight > 0) with.push_back(&run);
  }
  const std::string text = absl::StrCat(
      "Small MoE Transformers that learn to translate names to English by characters, ", request.steps,
      " steps, seed ", request.seed, ".\n", runs[0].sentences,
      "\nEach model runs on one simulated device per expert; all models have the same batches and the same ",
      "work per token.\nTraining: mean cross entropy of the last ", kSmoothing,
      " steps. Load: tokens whose first choice is the busiest expert, divided by the mean over experts; ",
      "mean over layers and ", kSmoothing, " steps.\n\n", LossTable(runs),
      "\nCross entropy of held-out names, with the auxiliary loss, for each tenth of the languages. sentences: training sentences\n"
      "per language. gain: the cross entropy with the fewest experts minus that with the most.\n\n",
      LanguagesTable(with));
  std::printf("\n%s", text.c_str());
  RETURN_IF_ERROR(WriteFile(ResultPath("training_experts.txt"), text));
  const std::vector<PlotPanel> panels = {CurvesPanel(with, "training", "cross_entropy", kSmoothing),
                                         CurvesPanel(with, "held-out names", "held_out_cross_entropy", 1),
                                         LoadPanel(runs, request.experts.back()), GainPanel(with)};
  return PlotPanels(panels, ResultPath("training_experts.svg"));
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app(
      "Trains small MoE Transformers with more and more experts, with equal steps and equal work per token.",
      "training_experts");
  toroid::Request request;
  app.add_option("--experts", request.experts, "Experts of the models, ascending")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::Range(int64_t{2}, int64_t{1024}));
  app.add_option("--steps", request.steps, "Steps of each")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  app.add_option("--seed", request.seed, "Seed of weights and batches")->capture_default_str();
  return toroid::RunCommand(app, argc, argv, [&] { return toroid::Experiment(request); });
}
