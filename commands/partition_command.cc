#include "commands/partition_command.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "commands/file_names.h"
#include "commands/nothing_sharded.h"
#include "commands/partition_input.h"
#include "commands/partition_trials.h"
#include "commands/run_command.h"
#include "commands/search_command.h"
#include "explain/explain_json.h"
#include "explain/explain_table.h"
#include "explain/explanation.h"
#include "explain/frames_text.h"
#include "explain/kept_gathers.h"
#include "explain/large_whole_arrays.h"
#include "explain/page/page.h"
#include "explain/page/whole_arrays.h"
#include "explain/statistics_json.h"
#include "explain/why.h"
#include "explain/why_json.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/base/terminal.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/passes/pass.h"
#include "simulator/cost/machine_cost_model.h"
#include "simulator/cost/predict_times.h"
#include "simulator/machines/machine.h"

namespace toroid {
namespace {

// What --explain and --html show.
struct Report {
  const Partitioned& partitioned;
  const PredictedTimes* times;
  std::vector<CollectiveRecord> collectives;
  std::vector<ExplainedNote> whole;
  Diagnosis diagnosis;

  Explanation ExplanationOf(bool full) const {
    Explanation explanation =
        Explain({collectives, partitioned.full_replications, partitioned.cuts, times, whole}, full);
    explanation.diagnosis = diagnosis;
    return explanation;
  }
};

// Writes the page of the explanation.
absl::Status WriteHtml(const PartitionCommand& command, const PartitionInput& input, const Report& report) {
  if (command.html.empty()) return absl::OkStatus();
  const Explanation explanation = report.ExplanationOf(/*full=*/false);
  return WriteFile(command.html, ExplainPageText({.title = NameOfInput(command.input),
                                                  .module = *report.partitioned.module,
                                                  .global = input.file.module.get(),
                                                  .num_partitions = report.partitioned.num_partitions,
                                                  .collectives = report.collectives,
                                                  .explanation = explanation,
                                                  .inside = *input.arrays,
                                                  .times = report.times,
                                                  .made_up_axes = report.partitioned.made_up_axes,
                                                  .shows_sources = command.html_sources}));
}

void PrintExplanation(const PartitionCommand& command, const Report& report) {
  if (command.explain == ExplainMode::kNothing || command.explain == ExplainMode::kPlan) return;
  const bool full = command.explain == ExplainMode::kFull || command.explain == ExplainMode::kFullJson;
  const Explanation explanation = report.ExplanationOf(full);
  std::string table = ExplainTable(explanation, report.times, OutputWidth());
  const bool names_axes =
      std::any_of(report.collectives.begin(), report.collectives.end(),
                  [](const CollectiveRecord& record) { return absl::StrContains(record.cause, " -> "); });
  if (names_axes && !report.partitioned.made_up_axes.empty()) {
    absl::StrAppend(&table, "axes ", report.partitioned.made_up_axes,
                    ": a letter and a size each; the module names none\n");
  }
  table = WithDiagnosis(table, explanation.diagnosis, OutputWidth());
  if (command.explain == ExplainMode::kJson || command.explain == ExplainMode::kFullJson) {
    table = ExplainJson(explanation, report.partitioned.num_partitions, report.times, table) + "\n";
  }
  std::fputs(table.c_str(), stdout);
}

// Writes the page and prints the table, or the plan.
absl::Status ReportExplanation(const PartitionCommand& command, const PartitionInput& input,
                               const Partitioned& partitioned, const PredictedTimes* times) {
  if (command.explain == ExplainMode::kPlan) std::fputs(partitioned.plan.c_str(), stdout);
  const bool is_table = command.explain != ExplainMode::kNothing && command.explain != ExplainMode::kPlan;
  if (command.html.empty() && !is_table && !command.frames) return absl::OkStatus();
  std::vector<CollectiveRecord> collectives = ListCollectives(*partitioned.module);
  std::vector<ExplainedNote> large = LargeWholeArrays(partitioned);
  const std::vector<ExplainedNote> kept = KeptGathers(*partitioned.module, collectives);
  large.insert(large.end(), kept.begin(), kept.end());
  const Report report = {partitioned, times, std::move(collectives), std::move(large),
                         Diagnose(command, input, partitioned)};
  RETURN_IF_ERROR(WriteHtml(command, input, report));
  PrintExplanation(command, report);
  if (command.frames) {
    const std::string text =
        FramesText(*partitioned.module, report.collectives, report.ExplanationOf(/*full=*/false));
    std::fputs(text.c_str(), stdout);
  }
  return absl::OkStatus();
}

// The answers of --why, in the order of the questions.
absl::Status PrintReasons(const PartitionCommand& command, const Partitioned& partitioned) {
  if (!command.why_json.empty()) {
    ASSIGN_OR_RETURN(const std::string json, WhyJson(partitioned));
    RETURN_IF_ERROR(WriteOutput(command.why_json, json + "\n"));
  }
  for (const std::string& name : command.why) {
    ASSIGN_OR_RETURN(const WhyAnswers answers, Why(partitioned, name));
    std::fputs(WhyText(answers).c_str(), stdout);
  }
  return absl::OkStatus();
}

bool AsksForPlan(const PartitionCommand& command) {
  return command.explain == ExplainMode::kPlan || !command.plan.empty();
}

// True if the module is the program of one partition and the command asks only for a report on it. A plan is made, or taken,
// only in partitioning.
bool IsToBeReportedOnly(const PartitionCommand& command, const Module& module) {
  return !AsksForPlan(command) && command.why.empty() && command.why_json.empty() &&
         command.what_if.empty() && !command.advise && command.output.empty() && command.given.empty() &&
         command.annotations.empty() && command.dump_dir.empty() &&
         (command.explain != ExplainMode::kNothing || command.frames || !command.stats.empty() ||
          !command.html.empty()) &&
         (IsPartitioned(module) || LooksPartitioned(module));
}

bool AsksForNothing(const PartitionCommand& command) {
  return command.output.empty() && command.why.empty() && !command.frames && command.why_json.empty() &&
         command.what_if.empty() && !command.advise && command.stats.empty() && command.html.empty() &&
         command.dump_dir.empty() && !command.check && command.explain == ExplainMode::kNothing;
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
  // After a search that found whole arrays to be best, there is nothing to begin with.
  if (command.search.is_asked) return;
  if (command.options.num_partitions == 1 || !IsNothingCut(*partitioned.module)) return;
  std::fprintf(stderr, "%s: %s\n", NameOfInput(command.input).c_str(),
               NothingShardedText(module, command.options.num_partitions).c_str());
}

// With --check, compares the program with the unpartitioned run, and leaves it in `partitioned`.
absl::Status Check(const PartitionCommand& command, PartitionInput& input,
                   std::optional<Partitioned>* partitioned) {
  if (!command.check) return absl::OkStatus();
  HloRunCommand run;
  run.input = NameOfInput(command.input);
  run.num_partitions = command.options.num_partitions;
  run.check = true;
  run.partition = [&](const Module& module, int64_t) -> absl::StatusOr<std::shared_ptr<const Module>> {
    ASSIGN_OR_RETURN(*partitioned, PartitionAsAsked(command, module, input));
    // A pointer that owns nothing: `partitioned` owns the module.
    return std::shared_ptr<const Module>(std::shared_ptr<void>(), (*partitioned)->module.get());
  };
  return RunHloFile(run, input.file);
}

double PartitionSeconds(const Partitioned& partitioned) {
  return partitioned.propagate_seconds + partitioned.partition_seconds + partitioned.optimize_seconds;
}

// The program to write and to report on.
absl::StatusOr<Partitioned> PartitionedProgram(const PartitionCommand& command, PartitionInput& input) {
  std::unique_ptr<Module>& module = input.file.module;
  if (IsToBeReportedOnly(command, *module)) return AsItIs(std::move(module));
  if (command.options.num_partitions == 1 && AsksForPlan(command)) {
    return absl::InvalidArgumentError(
        "a plan says how several devices share a program; leave out --num_partitions=1");
  }
  if (command.options.num_partitions != 1) {
    ASSIGN_OR_RETURN(Partitioned partitioned, PartitionAsAsked(command, *module, input));
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
  ASSIGN_OR_RETURN(PartitionInput input, ReadInputFile(command));
  input.slice = std::move(slice);
  if (command.search.is_asked)
    RETURN_IF_ERROR(Annotate(SearchShardings(command, &input), NameOfInput(command.input)));
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
    const bool is_explained = command.explain != ExplainMode::kNothing || !command.html.empty();
    if (is_explained) {
      RETURN_IF_ERROR(Annotate(AddHiddenTimes(*partitioned.module, input.slice->machine, &*times),
                               NameOfInput(command.input)));
    }
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
  RETURN_IF_ERROR(ReportExplanation(command, input, partitioned, times ? &*times : nullptr));
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
