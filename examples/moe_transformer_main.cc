// moe_transformer: the GShard model, partitioned and simulated at full size and executed at a small one.
//
// The full-size forward programs of the paper's Table 1 are partitioned for 128, 512 and 2048 devices, and
// their time and memory on TPU v3 slices of as many cores is predicted, as for their training steps. A small
// copy is run on a simulated mesh and compared with the unpartitioned run, and another is trained for some
// seconds. With --train a small model learns to translate instead, for as many steps as are asked for.
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_format.h"
#include "examples/moe/transformer.h"
#include "examples/progress_bar.h"
#include "examples/training/train_command.h"
#include "examples/training_preview.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/base/command_line.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "runtime/partitioned/run_partitioned.h"
#include "simulator/machines/machine.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

struct FullSizeRow {
  MoeTransformerConfig config;
  double weights = 0;
  double seconds = 0;
  int64_t instructions = 0;
  ProgramStatistics statistics;
  std::optional<Prediction> prediction;  // If TPU v3 has a slice of as many cores.
};

absl::StatusOr<std::optional<Prediction>> Predict(const Module& partition, int64_t devices) {
  SimulationOptions options;
  absl::StatusOr<Machine> machine = LoadMachine(absl::StrFormat("tpu-v3-%d", devices), Rates::kMeasured);
  if (absl::IsNotFound(machine.status())) return std::nullopt;
  ASSIGN_OR_RETURN(options.machine, std::move(machine));
  ASSIGN_OR_RETURN(Simulation simulation, Simulate(partition, options));
  return std::move(simulation.prediction);
}

absl::StatusOr<FullSizeRow> PartitionFullSize(const MoeTransformerConfig& config) {
  FullSizeRow row;
  row.config = config;
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, BuildMoeTransformer(config));
  for (const Instruction* parameter : module->entry()->parameters()) {
    if (IsFloat(parameter->shape().element_type()) && parameter->parameter_number() > 3) {
      row.weights += static_cast<double>(parameter->shape().NumElements());
    }
  }
  const Stopwatch start;
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  row.seconds = start.Seconds();
  row.instructions = partitioned.module->NumInstructions();
  row.statistics = ComputeStatistics(*partitioned.module);
  ASSIGN_OR_RETURN(row.prediction, Predict(*partitioned.module, config.devices));
  return row;
}

void PrintFullSize(const std::vector<FullSizeRow>& rows) {
  std::printf("Forward programs at full size, partitioned (sent bytes and memory are per device):\n\n");
  std::printf("  %-16s %8s %9s %10s %12s %18s %18s %10s %10s\n", "model", "devices", "weights", "partition",
              "instructions", "all-to-all", "all-reduce", "parameters", "peak");
  for (const FullSizeRow& row : rows) {
    const auto collective = [&](const char* name) {
      const auto it = row.statistics.collectives.find(name);
      if (it == row.statistics.collectives.end()) return std::string("none");
      return absl::StrFormat("%d, %.1f MB", it->second.count, it->second.sent_bytes / 1e6);
    };
    std::printf("  %-16s %8lld %7.1f B %7.0f ms %12lld %18s %18s %7.2f GB %7.2f GB\n",
                absl::StrFormat("MoE(%dE, %dL)", row.config.experts, row.config.layers).c_str(),
                static_cast<long long>(row.config.devices), row.weights / 1e9, row.seconds * 1e3,
                static_cast<long long>(row.instructions), collective("all-to-all").c_str(),
                collective("all-reduce").c_str(), row.statistics.device.parameters / 1e9,
                row.statistics.device.peak / 1e9);
  }
  std::printf(
      "\n  Per device the program is the same for any number of devices: two all-to-alls for each MoE layer, "
      "to send\n"
      "  tokens to their experts and back, and scalars.\n\n");
}

void PrintPredictions(const std::vector<FullSizeRow>& rows) {
  std::printf("One forward pass on TPU v3, 2,048 tokens per core, predicted at measured rates:\n\n");
  std::printf("  %-16s %-12s %9s %14s %10s\n", "model", "slice", "step", "communication", "memory");
  for (const FullSizeRow& row : rows) {
    const MoeTransformerConfig& config = row.config;
    std::printf("  %-16s ", absl::StrFormat("MoE(%dE, %dL)", config.experts, config.layers).c_str());
    if (!row.prediction) {
      std::printf("TPU v3 has no slice of %lld cores\n", static_cast<long long>(config.devices));
      continue;
    }
    const Prediction& prediction = *row.prediction;
    std::printf("%-12s %6.0f ms %12.1f %% %7.2f GB\n", prediction.machine.c_str(),
                static_cast<double>(prediction.step_ps) * 1e-9, prediction.communication_share * 100,
                static_cast<double>(prediction.memory.peak) / 1e9);
  }
  std::printf("\n  Its layers beside GShard's figure 8: bazel run -c opt //benchmarks:figure8_breakdown\n\n");
}

// Token ids below the vocabulary, uniform draws, weights around zero.
std::vector<Literal> RandomArguments(const Module& module, int64_t vocabulary, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    Literal literal(parameter->shape());
    if (parameter->shape().element_type() == xla::S32) {
      for (int32_t& token : literal.mutable_data<int32_t>())
        token = static_cast<int32_t>(random() % vocabulary);
    } else {
      const bool draws = parameter->parameter_number() == 3;
      std::uniform_real_distribution<float> distribution(draws ? 0.0f : -0.2f, draws ? 1.0f : 0.2f);
      for (float& value : literal.mutable_data<float>()) value = distribution(random);
    }
    arguments.push_back(std::move(literal));
  }
  return arguments;
}

struct SmallRun {
  MoeTransformerConfig config;
  double run_seconds = 0;
  double loss = 0;
  double reference_loss = 0;
  Comparison comparison;
};

absl::StatusOr<SmallRun> RunSmall(int64_t devices, Dispatch dispatch, uint64_t seed) {
  SmallRun run;
  run.config = TinyConfig();
  run.config.devices = run.config.experts = run.config.groups = devices;
  // The unpartitioned program uses masks: a program written for each device has no unpartitioned form.
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> plain, BuildMoeTransformer(run.config));
  run.config.dispatch = dispatch;
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, BuildMoeTransformer(run.config));
  const std::vector<Literal> arguments =
      RandomArguments(*module, std::min(run.config.source_vocabulary, run.config.target_vocabulary), seed);
  ASSIGN_OR_RETURN(const Literal expected, RunSingle(*plain, arguments));
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  const Stopwatch start;
  ASSIGN_OR_RETURN(const Literal actual,
                   RunPartitioned(*partitioned.module, arguments, module->entry()->root()->shape()));
  run.run_seconds = start.Seconds();
  run.comparison = Compare(actual, expected);
  run.loss = actual.data<float>()[0];
  run.reference_loss = expected.data<float>()[0];
  return run;
}

absl::Status RunExample(const std::vector<int64_t>& devices, int64_t layers, int64_t small_devices,
                        const std::string& dispatch_word, uint64_t seed) {
  ASSIGN_OR_RETURN(const Dispatch dispatch, ParseDispatch(dispatch_word));
  std::vector<FullSizeRow> rows;
  std::vector<PredictedTrainingStep> steps;
  SmallRun small;
  std::string short_training;
  {
    ProgressBar progress(2 * static_cast<int64_t>(devices.size()) + 2);
    for (const int64_t n : devices) {
      progress.Step(
          absl::StrFormat("partitioning and simulating MoE(%dE, %dL) for %d devices", n, layers, n));
      MoeTransformerConfig config = PaperConfig(n, layers);
      config.dispatch = dispatch;
      ASSIGN_OR_RETURN(FullSizeRow row, PartitionFullSize(config));
      rows.push_back(std::move(row));
    }
    for (const FullSizeRow& row : rows) {
      if (!row.prediction) continue;
      progress.Step(
          absl::StrFormat("predicting a training step of MoE(%dE, %dL)", row.config.experts, layers));
      ASSIGN_OR_RETURN(const PredictedTrainingStep step, PredictTrainingStep(row.config.experts, layers));
      steps.push_back(step);
    }
    progress.Step("training a small model");
    ASSIGN_OR_RETURN(short_training, ShortTrainingText(seed));
    progress.Step(absl::StrFormat("running a small copy on %d simulated devices", small_devices));
    ASSIGN_OR_RETURN(small, RunSmall(small_devices, dispatch, seed));
  }
  std::printf(
      "GShard: a Mixture-of-Experts Transformer (encoder and decoder, top-2 gating), one expert per "
      "device.\n\n");
  PrintFullSize(rows);
  PrintPredictions(rows);
  if (!steps.empty()) std::printf("%s", TrainingStepsText(steps).c_str());
  std::printf(
      "A small copy (%lld layers, %lld experts) executed with real values on %lld simulated devices, %.2f "
      "s:\n\n",
      static_cast<long long>(small.config.layers), static_cast<long long>(small.config.experts),
      static_cast<long long>(small.config.devices), small.run_seconds);
  std::printf(
      "  loss, partitioned     %.7f\n  loss, unpartitioned   %.7f\n  relative error        %.1e\n  %s\n",
      small.loss, small.reference_loss, small.comparison.max_rel_error,
      small.comparison.equal ? "equal: the partitioned program computes the same" : "DIFFERENT");
  std::printf("\n%s", short_training.c_str());
  if (!small.comparison.equal) return absl::FailedPreconditionError("the partitioned run differs");
  return absl::OkStatus();
}

}  // namespace
}  // namespace toroid

int main(int argc, char** argv) {
  CLI::App app(
      "Partitions the GShard Mixture-of-Experts Transformer at full size, predicts its time on TPU v3, and runs a small copy "
      "on a simulated mesh.",
      "moe_transformer");
  std::vector<int64_t> devices = {128, 512, 2048};
  int64_t layers = 36, small_devices = 16;
  uint64_t seed = 1;
  std::string dispatch = "einsum";
  toroid::TrainCommand training;
  toroid::AddTrainFlags(app, &training);
  const CLI::Option* devices_flag =
      app.add_option("--devices", devices,
                     "Devices (and experts) of the full-size models; with --train those that train")
          ->delimiter(',')
          ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  const CLI::Option* layers_flag =
      app.add_option(
             "--layers", layers,
             "Layers of the full-size models, both stacks together; with --train of the small one (4)")
          ->check(CLI::Range(int64_t{2}, int64_t{1000}));
  app.add_option("--small_devices", small_devices, "Devices (and experts) of the copy that is executed")
      ->check(CLI::Range(int64_t{1}, int64_t{2048}));
  const CLI::Option* dispatch_flag =
      app.add_option(
             "--dispatch", dispatch,
             "How tokens get to experts: einsum, by one-hot masks, or gather, by rows picked on each device; not with --train")
          ->capture_default_str();
  app.add_option("--seed", seed, "Seed of the small copy's weights and tokens, and of training");
  app.callback([&] {
    if (training.train && dispatch_flag->count() > 0)
      throw CLI::ValidationError("--dispatch", "--train has einsum alone");
    if (training.train && devices_flag->count() > 0 && devices.size() != 1) {
      throw CLI::ValidationError("--devices", "--train takes one number of devices");
    }
  });
  return toroid::RunCommand(app, argc, argv, [&] {
    if (!training.train) return toroid::RunExample(devices, layers, small_devices, dispatch, seed);
    training.devices = devices_flag->count() > 0 ? devices[0] : 0;
    training.layers = layers_flag->count() > 0 ? layers : 0;
    training.seed = seed;
    return toroid::RunTrainCommand(training);
  });
}
