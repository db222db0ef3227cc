#include "benchmarks/rematerialization_model.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/tables.h"
#include "examples/moe/training_step.h"
#include "hlo/base/status.h"
#include "hlo/io/file.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/machines/machine.h"
#include "simulator/rules/rule.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

constexpr double kGiB = 1 << 30;

struct StepByCompiler {
  int64_t layers;
  RepeatedWork work;
};
constexpr StepByCompiler kSteps[] = {{38, {678, 9, 12, 7.89}},     {40, {768, 54, 60, 7.44}},
                                     {44, {898, 151, 127, 6.89}},  {46, {930, 193, 134, 6.60}},
                                     {48, {1010, 304, 171, 6.60}}, {50, {1050, 392, 186, 6.61}},
                                     {52, {.fits = false}}};

absl::StatusOr<RepeatedWork> Simulated(const Module& module, const char* machine) {
  SimulationOptions options;
  ASSIGN_OR_RETURN(options.machine, LoadMachine(machine, Rates::kCompiler));
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(module, options));
  const Prediction& prediction = simulation.prediction;
  RepeatedWork work;
  for (const PredictedGroup& group : prediction.groups) {
    const double milliseconds = static_cast<double>(group.picoseconds) * group.executions * 1e-9;
    work.all_milliseconds += milliseconds;
    if (!absl::c_linear_search(group.rules, RowOf(Rule::kRematerialization).name)) continue;
    ++work.values;
    work.milliseconds += milliseconds;
  }
  work.gibibytes = static_cast<double>(prediction.memory.temporary) / kGiB;
  work.fits = prediction.memory.allocated <= prediction.memory.capacity;
  return work;
}

absl::StatusOr<RepeatedWork> SimulatedStep(int64_t layers) {
  MoeTransformerConfig config = PaperConfig(2048, layers);
  config.sequence_length = 256;
  config.sequences = 8;
  config.bf16_scores = false;
  TrainingOptions options;
  options.adafactor.replicated_slots = true;
  ASSIGN_OR_RETURN(const TrainingStep training, BuildTrainingStep(config, options));
  PartitionOptions partition_options;
  partition_options.strategies = NoSearch();  // As XLA partitions: op by op.
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*training.module, partition_options));
  return Simulated(*partitioned.module, "tpu-v3-2048");
}

}  // namespace

absl::StatusOr<std::vector<OversizedProgram>> SimulateOversizedSteps() {
  std::vector<OversizedProgram> programs;
  for (const StepByCompiler& step : kSteps) {
    ASSIGN_OR_RETURN(const RepeatedWork ours, SimulatedStep(step.layers));
    programs.push_back({absl::StrCat(step.layers, " layers"), step.work, ours});
  }
  return programs;
}

absl::StatusOr<std::vector<OversizedProgram>> SimulateOversizedPrograms(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto rows, ReadTable(folder + "/index.tsv", 5));
  std::vector<OversizedProgram> programs;
  for (const std::vector<std::string>& row : rows) {
    double numbers[4];
    for (int k = 0; k < 4; ++k) {
      ASSIGN_OR_RETURN(numbers[k], Number(row[k + 1]));
    }
    ASSIGN_OR_RETURN(const HloFile file, ReadHloFile(ModuleFile(folder, row[0])));
    ASSIGN_OR_RETURN(const RepeatedWork ours, Simulated(*file.module, "tpu-v3-8"));
    programs.push_back(
        {row[0],
         {numbers[0] * 1e-3, static_cast<int64_t>(numbers[2]), numbers[3] * 1e-3, numbers[1] / kGiB},
         ours});
  }
  return programs;
}

}  // namespace toroid
