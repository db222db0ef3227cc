#include "commands/partition_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "commands/file_names.h"
#include "commands/nothing_sharded.h"
#include "commands/run_command.h"
#include "explain/advice.h"
#include "explain/explain_json.h"
#include "explain/explain_table.h"
#include "explain/explanation.h"
#include "explain/page/page.h"
#include "explain/page/whole_arrays.h"
#include "explain/statistics_json.h"
#include "explain/what_if.h"
#include "explain/why.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/base/terminal.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/edit.h"
#include "hlo/ops/verify_module.h"
#include "hlo/passes/pass.h"
#include "partitioner/prepare/sharding_lines.h"
#include "simulator/cost/machine_cost_model.h"
#include "simulator/cost/predict_times.h"
#include "simulator/machines/machine.h"

namespace toroid {
namespace {

// Writes the module after each phase as HLO text, numbered in order.
absl::Status Dump(const std::string& folder, int number, absl::string_view phase, const Module& module) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  return WriteFile(absl::StrFormat("%s/%02d_%s.hlo", folder, number, phase), PrintModule(module));
}

// What --machine names, and its costs.
struct Slice {
  Machine machine;
  std::shared_ptr<const MachineCostModel> cost;
};

struct Input {
  std::optional<Slice> slice;
  HloFile file;
  PassObserver observer;  // Dumps and verifies the module after each phase and pass.
  // For the page: arrays of the program before partitioning, filled by the observer.
  std::shared_ptr<std::vector<WholeArray>> arrays = std::make_shared<std::vector<WholeArray>>();
};

PassObserver ObserverOf(const PartitionCommand& command,
                        const std::shared_ptr<std::vector<WholeArray>>& arrays) {
  PassObserver observer;
  observer.verify = command.verify;
  if (command.dump_dir.empty() && command.html.empty()) return observer;
  const auto number = std::make_shared<int>(0);  // Shared by all copies of the observer.
  observer.see = [folder = command.dump_dir, is_page = !command.html.empty(), number, arrays](
                     absl::string_view phase, const Module& after) {
    if (is_page && phase == "propagate") *arrays = ListWholeArrays(after);
    return folder.empty() ? absl::OkStatus() : Dump(folder, (*number)++, phase, after);
  };
  return observer;
}

absl::StatusOr<Partitioned> Partition(const PartitionCommand& command, const Module& module,
                                      const Input& input) {
  RETURN_IF_ERROR(CheckPartitioningIsRecorded(module));
  if (IsPartitioned(module)) {
    return absl::InvalidArgumentError(
        "the module is partitioned already (it has spmd_output_sharding); give the module before partitioning, in "
        "a dump of XLA the file with before_optimizations in its name; --explain without -o reports on this one");
  }
  PartitionOptions options = command.options;
  if (input.slice) {
    options.cost = input.slice->cost.get();
    options.step_seconds = [&](const Module& written) -> absl::StatusOr<double> {
      ASSIGN_OR_RETURN(const PredictedTimes times, PredictTimes(written, input.slice->machine));
      return times.step_seconds;
    };
  }
  options.states_plan = command.explain == ExplainMode::kPlan;
  if (!command.plan.empty()) {
    ASSIGN_OR_RETURN(options.plan, ReadInput(command.plan));
    if (options.plan.empty())
      return absl::InvalidArgumentError(absl::StrCat(command.plan, ": the plan is empty"));
  }
  options.observer = input.observer;
  return PartitionModule(module, options);
}

absl::Status GiveShardings(const PartitionCommand& command, HloFile* file) {
  GivenShardings given = command.given;
  if (!command.annotations.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadInput(command.annotations));
    for (ShardingLine& line : ReadShardingLines(text, command.annotations)) {
      given.lines.push_back(std::move(line));
    }
  }
  return GiveShardings(given, file->module.get(), &file->warnings);
}

// Writes the page of the explanation.
absl::Status WriteHtml(const PartitionCommand& command, const Input& input, const Partitioned& partitioned,
                       const PredictedTimes* times) {
  if (command.html.empty()) return absl::OkStatus();
  const std::vector<CollectiveRecord> collectives = ListCollectives(*partitioned.module);
  const Explanation explanation =
      Explain({collectives, partitioned.full_replications, partitioned.cuts, times}, /*full=*/false);
  return WriteFile(command.html, ExplainPageText({.title = NameOfInput(command.input),
                                                  .module = *partitioned.module,
                                                  .global = input.file.module.get(),
                                                  .num_partitions = partitioned.num_partitions,
                                                  .collectives = collectives,
                                                  .explanation = explanation,
                                                  .inside = *input.arrays,
                                                  .times = times,
                                                  .made_up_axes = partitioned.made_up_axes,
                                                  .shows_sources = command.html_sources}));
}

void PrintExplanation(const PartitionCommand& command, const Partitioned& partitioned,
                      const PredictedTimes* times) {
  if (command.explain == ExplainMode::kNothing) return;
  if (command.explain == ExplainMode::kPlan) {
    std::fputs(partitioned.plan.c_str(), stdout);
    return;
  }
  const std::vector<CollectiveRecord> collectives = ListCollectives(*partitioned.module);
  const bool full = command.explain == ExplainMode::kFull || command.explain == ExplainMode::kFullJson;
  const Explanation explanation =
      Explain({collectives, partitioned.full_replications, partitioned.cuts, times}, full);
  std::string table = ExplainTable(explanation, times, OutputWidth());
  const bool names_axes =
      std::any_of(collectives.begin(), collectives.end(),
                  [](const CollectiveRecord& record) { return absl::StrContains(record.cause, " -> "); });
  if (names_axes && !partitioned.made_up_axes.empty()) {
    absl::StrAppend(&table, "axes ", partitioned.made_up_axes,
                    ": a letter and a size each; the module names none\n");
  }
  if (command.explain == ExplainMode::kJson || command.explain == ExplainMode::kFullJson) {
    table = ExplainJson(explanation, partitioned.num_partitions, times, table) + "\n";
  }
  std::fputs(table.c_str(), stdout);
}

// The answers of --why, in the order of the questions.
absl::Status PrintReasons(const PartitionCommand& command, const Partitioned& partitioned) {
  for (const std::string& name : command.why) {
    ASSIGN_OR_RETURN(const WhyAnswers answers, Why(partitioned, name));
    std::fputs(WhyText(answers).c_str(), stdout);
  }
  return absl::OkStatus();
}

absl::StatusOr<ProgramFigures> FiguresOnSlice(const Module& partitioned, const Input& input) {
  if (!input.slice) return FiguresOf(partitioned);
  ASSIGN_OR_RETURN(const PredictedTimes times, PredictTimes(partitioned, input.slice->machine));
  return FiguresOf(partitioned, &times);
}

// Partitions the module once more for each question of --what_if and each trial of --advise, and prints how the programs differ.
absl::Status TryShardings(const PartitionCommand& command, const Input& input,
                          const Partitioned& partitioned) {
  if (command.what_if.empty() && !command.advise) return absl::OkStatus();
  if (input.file.module == nullptr)
    return absl::InvalidArgumentError(
        "--what_if and --advise compare programs of several devices; leave out --num_partitions=1");
  PartitionCommand silent = command;
  silent.explain = ExplainMode::kNothing;
  silent.plan.clear();
  Input trial;
  trial.slice = input.slice;
  const auto figures_with = [&](const std::vector<std::string>& given) -> absl::StatusOr<ProgramFigures> {
    const std::unique_ptr<Module> module = CloneModule(*input.file.module);
    std::vector<ShardingLine> lines;
    for (const std::string& line : given) lines.push_back({line, "--what_if"});
    RETURN_IF_ERROR(ApplyShardingLines(lines, module.get()));
    ASSIGN_OR_RETURN(const Partitioned then, Partition(silent, *module, trial));
    return FiguresOnSlice(*then.module, input);
  };
  ASSIGN_OR_RETURN(const ProgramFigures now, FiguresOnSlice(*partitioned.module, input));
  for (const std::string& question : command.what_if) {
    ASSIGN_OR_RETURN(ProgramFigures then, figures_with({question}));
    std::fputs(WhatIfText(CompareFigures(now, std::move(then)), question, OutputWidth()).c_str(), stdout);
  }
  if (command.advise) std::fputs(AdviceText(FindAdvice(partitioned, now, figures_with)).c_str(), stdout);
  return absl::OkStatus();
}

bool AsksForPlan(const PartitionCommand& command) {
  return command.explain == ExplainMode::kPlan || !command.plan.empty();
}

// True if the module is the program of one partition and the command asks only for a report on it. A plan is made, or taken,
// only in partitioning.
bool IsToBeReportedOnly(const PartitionCommand& command, const Module& module) {
  return !AsksForPlan(command) && command.why.empty() && command.what_if.empty() && !command.advise &&
         command.output.empty() && command.given.empty() && command.annotations.empty() &&
         command.dump_dir.empty() &&
         (command.explain != ExplainMode::kNothing || !command.stats.empty() || !command.html.empty()) &&
         (IsPartitioned(module) || LooksPartitioned(module));
}

bool AsksForNothing(const PartitionCommand& command) {
  return command.output.empty() && command.why.empty() && command.what_if.empty() && !command.advise &&
         command.stats.empty() && command.html.empty() && command.dump_dir.empty() && !command.check &&
         command.explain == ExplainMode::kNothing;
}

absl::StatusOr<Partitioned> AsItIs(std::unique_ptr<Module> module) {
  Partitioned partitioned;
  ASSIGN_OR_RETURN(partitioned.num_partitions, PartitionsOf(*module));
  partitioned.module = std::move(module);
  return partitioned;
}

// If nothing is sharded, tells the user how to begin.
void HintIfNothingIsSharded(const PartitionCommand& command, const Module& module,
                            const Partitioned& partitioned) {
  if (command.options.num_partitions == 1 || !IsNothingCut(*partitioned.module)) return;
  std::fprintf(stderr, "%s: %s\n", NameOfInput(command.input).c_str(),
               NothingShardedText(module, command.options.num_partitions).c_str());
}

absl::StatusOr<std::optional<Slice>> LoadSlice(const std::string& name) {
  if (name.empty()) return std::nullopt;
  Slice slice;
  ASSIGN_OR_RETURN(slice.machine, LoadMachine(name));
  ASSIGN_OR_RETURN(slice.cost, MachineCostModel::Create(slice.machine));
  return slice;
}

absl::StatusOr<Input> ReadInputFile(const PartitionCommand& command) {
  Input input;
  input.observer = ObserverOf(command, input.arrays);
  ASSIGN_OR_RETURN(input.file, ReadHloFile(command.input));
  RETURN_IF_ERROR(Annotate(VerifyModule(*input.file.module), NameOfInput(command.input)));
  RETURN_IF_ERROR(Annotate(GiveShardings(command, &input.file), NameOfInput(command.input)));
  return input;
}

// With --check, compares the program with the unpartitioned run, and leaves it in `partitioned`.
absl::Status Check(const PartitionCommand& command, Input& input, std::optional<Partitioned>* partitioned) {
  if (!command.check) return absl::OkStatus();
  HloRunCommand run;
  run.input = NameOfInput(command.input);
  run.num_partitions = command.options.num_partitions;
  run.check = true;
  run.partition = [&](const Module& module, int64_t) -> absl::StatusOr<std::shared_ptr<const Module>> {
    ASSIGN_OR_RETURN(*partitioned, Partition(command, module, input));
    // A pointer that owns nothing: `partitioned` owns the module.
    return std::shared_ptr<const Module>(std::shared_ptr<void>(), (*partitioned)->module.get());
  };
  return RunHloFile(run, input.file);
}

double PartitionSeconds(const Partitioned& partitioned) {
  return partitioned.propagate_seconds + partitioned.partition_seconds + partitioned.optimize_seconds;
}

// The program to write and to report on.
absl::StatusOr<Partitioned> PartitionedProgram(const PartitionCommand& command, Input& input) {
  std::unique_ptr<Module>& module = input.file.module;
  if (IsToBeReportedOnly(command, *module)) return AsItIs(std::move(module));
  if (command.options.num_partitions == 1 && AsksForPlan(command)) {
    return absl::InvalidArgumentError(
        "a plan says how several devices share a program; leave out --num_partitions=1");
  }
  if (command.options.num_partitions != 1) {
    ASSIGN_OR_RETURN(Partitioned partitioned, Partition(command, *module, input));
    return partitioned;
  }
  if (HasManualRegions(*module)) {
    return absl::InvalidArgumentError(
        "manual regions cannot run on one device; leave out --num_partitions=1");
  }
  Partitioned whole;
  whole.module = std::move(module);
  return whole;
}

absl::Status WriteProgram(const PartitionCommand& command, const HloFile& input, Partitioned* partitioned) {
  if (command.output.empty()) return absl::OkStatus();
  HloFile out;
  // A snapshot's arguments and result are those of the global program.
  out.container = input.container == Container::kModule ? Container::kModule : Container::kProto;
  out.module = std::move(partitioned->module);
  RETURN_IF_ERROR(command.format ? WriteHloFile(out, command.output, *command.format)
                                 : WriteHloFile(out, command.output));
  partitioned->module = std::move(out.module);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunPartitionCommand(const PartitionCommand& command) {
  ASSIGN_OR_RETURN(std::optional<Slice> slice, LoadSlice(command.machine));
  PhaseSeconds seconds;
  const Stopwatch start;
  ASSIGN_OR_RETURN(Input input, ReadInputFile(command));
  input.slice = std::move(slice);
  seconds.read = start.Seconds();
  const int64_t before = input.file.module->NumInstructions();

  std::optional<Partitioned> checked;
  const Stopwatch check;
  RETURN_IF_ERROR(Check(command, input, &checked));
  const double check_seconds = check.Seconds() - (checked ? PartitionSeconds(*checked) : 0);
  if (!checked) {
    absl::StatusOr<Partitioned> made = PartitionedProgram(command, input);
    if (!made.ok()) return Annotate(made.status(), NameOfInput(command.input));
    checked = *std::move(made);
  }
  Partitioned& partitioned = *checked;
  if (input.file.module != nullptr) HintIfNothingIsSharded(command, *input.file.module, partitioned);
  std::optional<PredictedTimes> times;
  if (input.slice) {
    absl::StatusOr<PredictedTimes> predicted = PredictTimes(*partitioned.module, input.slice->machine);
    if (!predicted.ok()) return Annotate(predicted.status(), NameOfInput(command.input));
    times = *std::move(predicted);
  }
  seconds.propagate = partitioned.propagate_seconds;
  seconds.partition = partitioned.partition_seconds;
  seconds.optimize = partitioned.optimize_seconds;
  seconds.passes = partitioned.passes;

  const Stopwatch write;
  RETURN_IF_ERROR(WriteProgram(command, input.file, &partitioned));
  seconds.write = write.Seconds();
  seconds.total = start.Seconds() - check_seconds;

  if (!command.stats.empty()) {
    const std::string json =
        StatisticsJson(*partitioned.module, partitioned.num_partitions, before, partitioned.full_replications,
                       seconds, times ? &*times : nullptr);
    RETURN_IF_ERROR(WriteOutput(command.stats, json + "\n"));
  }
  RETURN_IF_ERROR(WriteHtml(command, input, partitioned, times ? &*times : nullptr));
  PrintExplanation(command, partitioned, times ? &*times : nullptr);
  RETURN_IF_ERROR(Annotate(PrintReasons(command, partitioned), NameOfInput(command.input)));
  RETURN_IF_ERROR(Annotate(TryShardings(command, input, partitioned), NameOfInput(command.input)));
  if (AsksForNothing(command)) {
    if (times) std::fputs(PredictionLine(*times).c_str(), stdout);
    std::printf("%s; --explain says why, -o FILE writes it\n",
                SummaryLine(Explain({ListCollectives(*partitioned.module)}, /*full=*/false),
                            partitioned.num_partitions)
                    .c_str());
  }
  PrintWarnings(input.file);
  return absl::OkStatus();
}

}  // namespace toroid
