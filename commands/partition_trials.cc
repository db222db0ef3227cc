#include "commands/partition_trials.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "explain/advice.h"
#include "explain/what_if.h"
#include "hlo/base/status.h"
#include "hlo/base/terminal.h"
#include "hlo/ir/edit.h"
#include "partitioner/prepare/sharding_lines.h"
#include "simulator/cost/predict_times.h"

namespace toroid {
namespace {

// The diagnosis tries little, and of a large program less.
AdviceBudget DiagnosisBudget(int64_t instructions) {
  const int64_t trials = std::min<int64_t>(6, kDiagnosedInstructions / std::max<int64_t>(1, instructions));
  return {.changes = {.prices = 96, .ops = 1 << 18},
          .trials = static_cast<size_t>(trials),
          .least_promised = 0.01,
          .least_saved = 0.05,
          .combines = false};
}

absl::StatusOr<ProgramFigures> FiguresOnSlice(const Module& partitioned, const PartitionInput& input) {
  if (!input.slice) return FiguresOf(partitioned);
  ASSIGN_OR_RETURN(const PredictedTimes times, PredictTimes(partitioned, input.slice->machine));
  return FiguresOf(partitioned, &times);
}

// Partitions the module of the input with other shardings, and gives the figures of the program.
class Trials {
 public:
  Trials(const PartitionCommand& command, const PartitionInput& input)
      : silent_(command), module_(*input.file.module) {
    silent_.explain = ExplainMode::kNothing;
    silent_.plan.clear();
    input_.slice = input.slice;
  }

  absl::StatusOr<ProgramFigures> With(const std::vector<std::string>& given) const {
    const std::unique_ptr<Module> module = CloneModule(module_);
    std::vector<ShardingLine> lines;
    for (const std::string& line : given) lines.push_back({line, "--what_if"});
    RETURN_IF_ERROR(ApplyShardingLines(lines, module.get()));
    ASSIGN_OR_RETURN(const Partitioned then, PartitionAsAsked(silent_, *module, input_));
    return FiguresOnSlice(*then.module, input_);
  }

 private:
  PartitionCommand silent_;
  PartitionInput input_;  // Without a file.
  const Module& module_;
};

}  // namespace

absl::Status TryShardings(const PartitionCommand& command, const PartitionInput& input,
                          const Partitioned& partitioned) {
  if (command.what_if.empty() && !command.advise) return absl::OkStatus();
  if (input.file.module == nullptr)
    return absl::InvalidArgumentError(
        "--what_if and --advise compare programs of several devices; leave out --num_partitions=1");
  const Trials trials(command, input);
  ASSIGN_OR_RETURN(const ProgramFigures now, FiguresOnSlice(*partitioned.module, input));
  for (const std::string& question : command.what_if) {
    ASSIGN_OR_RETURN(ProgramFigures then, trials.With({question}));
    std::fputs(WhatIfText(CompareFigures(now, std::move(then)), question, OutputWidth()).c_str(), stdout);
  }
  if (command.advise) {
    const auto with = [&](const std::vector<std::string>& given) { return trials.With(given); };
    std::fputs(AdviceText(FindAdvice(partitioned, now, with)).c_str(), stdout);
  }
  return absl::OkStatus();
}

Diagnosis Diagnose(const PartitionCommand& command, const PartitionInput& input,
                   const Partitioned& partitioned) {
  Diagnosis diagnosis;
  if (input.file.module == nullptr || partitioned.program == nullptr || command.advise) return diagnosis;
  absl::StatusOr<ProgramFigures> now = FiguresOnSlice(*partitioned.module, input);
  if (!now.ok() || now->explanation.sent_bytes == 0) return diagnosis;
  const AdviceBudget budget = DiagnosisBudget(input.file.module->NumInstructions());
  if (budget.trials == 0) {
    diagnosis.is_skipped = true;
    return diagnosis;
  }
  const Trials trials(command, input);
  const auto with = [&](const std::vector<std::string>& given) { return trials.With(given); };
  for (Advice& advice : FindAdvice(partitioned, *now, with, budget))
    diagnosis.changes.push_back(std::move(advice.change));
  return diagnosis;
}

}  // namespace toroid
