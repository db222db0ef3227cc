// training_step: builds, partitions and simulates the whole training step of a model of GShard's Table 1.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_format.h"
#include "examples/moe/fit_on_machine.h"
#include "examples/moe/training_step.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/base/command_line.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/io/file.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/cost/machine_cost_model.h"
#include "simulator/machines/machine.h"
#include "simulator/report/summary.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

struct Request {
  std::string model = "2048e_36l";
  std::string output;  // File for the global program; empty: not written.
  double dropout = 0.1;
  double label_smoothing = 0.1;
  bool shared_embedding = false;
  std::string remat;  // Empty: none, or as published.
  std::string dispatch = "einsum";
  int64_t sequence_length = 512;
  int64_t microbatches = 0;  // 0: the model's own.
  bool replicated_slots = true;
  bool as_published = false;
  int width = 100;
};

absl::StatusOr<TrainingStep> BuildFitting(const MoeTransformerConfig& config, TrainingOptions options,
                                          const Machine& machine) {
  ASSIGN_OR_RETURN(const auto costs, MachineCostModel::Create(machine));
  options.memory_fit = FitOnMachine(machine, *costs);
  return BuildTrainingStep(config, options);
}

absl::StatusOr<TrainingStep> Build(const Request& request, MoeTransformerConfig* config, Machine* machine) {
  ASSIGN_OR_RETURN(*config, PaperConfig(request.model));
  ASSIGN_OR_RETURN(config->dispatch, ParseDispatch(request.dispatch));
  config->dropout = request.dropout;
  config->label_smoothing = request.label_smoothing;
  config->sequences = config->tokens_per_group() / request.sequence_length;
  config->sequence_length = request.sequence_length;
  if (request.microbatches > 0 && config->stages == 1) {
    return absl::InvalidArgumentError("--microbatches: only t_96l is a pipeline");
  }
  if (request.microbatches > 0) config->microbatches = request.microbatches;
  config->shared_embedding = request.shared_embedding;
  if (config->shared_embedding) config->source_vocabulary = config->target_vocabulary;
  TrainingOptions options;
  options.adafactor.replicated_slots = request.replicated_slots;
  if (request.as_published) MakeAsPublished(config, &options);
  if (!request.remat.empty()) {
    ASSIGN_OR_RETURN(options.remat, ParseRemat(request.remat));
  }
  ASSIGN_OR_RETURN(*machine, LoadMachine(absl::StrFormat("tpu-v3-%d", config->devices), Rates::kMeasured));
  return options.remat == Remat::kFit ? BuildFitting(*config, options, *machine)
                                      : BuildTrainingStep(*config, options);
}

std::string Name(const MoeTransformerConfig& config) {
  if (config.experts > 0) return absl::StrFormat("MoE(%dE, %dL)", config.experts, config.layers);
  return absl::StrFormat("T(%dL), %d stages, %d microbatches", config.layers, config.stages,
                         config.microbatches);
}

absl::Status Run(const Request& request) {
  MoeTransformerConfig config;
  Stopwatch watch;
  SimulationOptions options;
  ASSIGN_OR_RETURN(TrainingStep training, Build(request, &config, &options.machine));
  const double build = watch.Seconds();
  const int64_t instructions = training.module->NumInstructions();
  if (!request.output.empty()) {
    HloFile file;
    file.module = std::move(training.module);
    RETURN_IF_ERROR(WriteHloFile(file, request.output));
    training.module = std::move(file.module);
  }
  watch = Stopwatch();
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*training.module, PartitionOptions()));
  const double partition = watch.Seconds();
  watch = Stopwatch();
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*partitioned.module, options));
  const double simulate = watch.Seconds();
  std::printf("%s, training step: %d instructions, %d for each device\n", Name(config).c_str(),
              static_cast<int>(instructions), static_cast<int>(partitioned.module->NumInstructions()));
  std::printf("  built and differentiated in %.2f s, partitioned in %.2f s, simulated in %.2f s\n\n", build,
              partition, simulate);
  const ProgramStatistics statistics = ComputeStatistics(*partitioned.module);
  for (const auto& [name, collective] : statistics.collectives) {
    std::printf("  %-20s %4d  %10.1f MB\n", name.c_str(), static_cast<int>(collective.count),
                collective.sent_bytes / 1e6);
  }
  std::printf("\n%s", SummaryText(simulation.prediction, request.width).c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app(
      "Builds the training step (forward, backward, Adafactor) of a model of GShard's Table 1, partitions it, and predicts its "
      "time and memory on a TPU v3 slice with a core for each expert.",
      "training_step");
  toroid::Request request;
  app.add_option("--model", request.model,
                 "Experts and layers, as 2048e_36l; t_96l, the dense model of 96 layers as a pipeline")
      ->capture_default_str();
  app.add_option("-o,--output", request.output,
                 "Where to write the annotated program, in any format of hlo-convert");
  app.add_option("--dropout", request.dropout, "Rate of dropout")->capture_default_str();
  app.add_option("--label_smoothing", request.label_smoothing, "Share of a label spread over the vocabulary")
      ->capture_default_str();
  app.add_option("--remat", request.remat,
                 "What the backward pass computes again: none, dots, layers, layer_dots; fit: as little "
                 "as memory allows; default: none, or what --as_published says");
  app.add_option(
         "--dispatch", request.dispatch,
         "How tokens get to experts: einsum, by one-hot masks, or gather, by rows picked on each device")
      ->capture_default_str();
  app.add_option("--sequence_length", request.sequence_length, "Tokens of a sequence; a group has 2,048")
      ->check(CLI::IsMember(std::vector<int64_t>{64, 128, 256, 512, 1024, 2048}))
      ->capture_default_str();
  app.add_option("--microbatches", request.microbatches,
                 "Parts of the batch of t_96l; a multiple of its 16 stages")
      ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--shared_embedding", request.shared_embedding,
               "One table of 32,000 words for source, target and output");
  app.add_flag(
      "--as_published", request.as_published,
      "As in the paper's runs: tables looked up by products with one-hot rows, no update before all gradients are known "
      "to be finite, layers computed again from 36 on");
  app.add_flag("--replicated_slots,!--split_slots", request.replicated_slots,
               "Adafactor's averages whole on every core, as in the paper's runs, or cut");
  app.add_option("--width", request.width, "Columns of the tables")->capture_default_str();
  return toroid::RunCommand(app, argc, argv, [&] { return toroid::Run(request); });
}
