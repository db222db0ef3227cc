#include "partitioner/partition_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/base/terminal.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/spmd_record.h"
#include "hlo/ops/verify_module.h"
#include "hlo/passes/run_time_sizes_pass.h"
#include "partitioner/explain_table.h"
#include "partitioner/given_shardings.h"
#include "partitioner/nothing_sharded.h"
#include "partitioner/partition_report.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/statistics.h"

namespace toroid {
namespace {

std::string NameOf(const std::string& input) { return input == "-" ? "standard input" : input; }

// Writes the module after each phase as HLO text, numbered in order.
absl::Status Dump(const std::string& folder, int number, absl::string_view phase, const Module& module) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  return WriteFile(absl::StrFormat("%s/%02d_%s.hlo", folder, number, phase), PrintModule(module));
}

absl::StatusOr<Partitioned> Partition(const PartitionCommand& command, const Module& module) {
  RETURN_IF_ERROR(CheckPartitioningIsRecorded(module));
  if (IsPartitioned(module)) {
    return absl::InvalidArgumentError(
        "the module is partitioned already (it has spmd_output_sharding); give the module before partitioning, in "
        "a dump of XLA the file with before_optimizations in its name; --explain without -o reports on this one");
  }
  PartitionOptions options = command.options;
  int number = 0;
  if (!command.dump_dir.empty()) {
    options.after_phase = [&](absl::string_view phase, const Module& after) {
      return Dump(command.dump_dir, number++, phase, after);
    };
  }
  return PartitionModule(module, options);
}

absl::Status GiveShardings(const PartitionCommand& command, HloFile* file) {
  std::vector<GivenSharding> shardings;
  for (const std::string& line : command.shardings) shardings.push_back({line, ""});
  if (!command.annotations.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadInput(command.annotations));
    for (GivenSharding& line : GivenShardingLines(text, command.annotations)) shardings.push_back(std::move(line));
  }
  return ApplyGivenShardings(shardings, file->module.get(), &file->warnings);
}

void PrintExplanation(const PartitionCommand& command, const Partitioned& partitioned) {
  if (command.explain == Explain::kNothing) return;
  ExplainOptions options;
  options.full = command.explain == Explain::kFull;
  options.width = OutputWidth();
  const std::vector<CollectiveRecord> collectives = ListCollectives(*partitioned.module);
  std::fputs(ExplainTable(collectives, partitioned.full_replications, options).c_str(), stdout);
  const bool names_axes = std::any_of(collectives.begin(), collectives.end(), [](const CollectiveRecord& record) {
    return absl::StrContains(record.cause, " -> ");
  });
  if (names_axes && !partitioned.made_up_axes.empty()) {
    std::printf("axes %s: a letter and a size each; the module names none\n", partitioned.made_up_axes.c_str());
  }
}

// True if the module is the program of one partition and is asked for nothing but a report.
bool IsToBeReportedOnly(const PartitionCommand& command, const Module& module) {
  return command.output.empty() && command.shardings.empty() && command.annotations.empty() &&
         command.dump_dir.empty() && (command.explain != Explain::kNothing || !command.stats.empty()) &&
         (IsPartitioned(module) || LooksPartitioned(module));
}

bool AsksForNothing(const PartitionCommand& command) {
  return command.output.empty() && command.stats.empty() && command.dump_dir.empty() && !command.check &&
         command.explain == Explain::kNothing;
}

absl::StatusOr<Partitioned> AsItIs(std::unique_ptr<Module> module) {
  Partitioned partitioned;
  ASSIGN_OR_RETURN(partitioned.num_partitions, PartitionsOf(*module));
  partitioned.module = std::move(module);
  return partitioned;
}

// Says how to begin with a module in which nothing is sharded.
void HintIfNothingIsSharded(const PartitionCommand& command, const Module& module, const Partitioned& partitioned) {
  if (command.options.num_partitions == 1 || !IsNothingCut(*partitioned.module)) return;
  std::fprintf(stderr, "%s: %s\n", NameOf(command.input).c_str(),
               NothingShardedText(module, command.options.num_partitions).c_str());
}

}  // namespace

absl::StatusOr<HloFile> ReadForPartitioning(const PartitionCommand& command) {
  ASSIGN_OR_RETURN(HloFile file, ReadHloFile(command.input));
  RETURN_IF_ERROR(Annotate(VerifyModule(*file.module), NameOf(command.input)));
  if (command.options.num_partitions != 1) KeepRunTimeSizes(file.module.get());
  RETURN_IF_ERROR(Annotate(GiveShardings(command, &file), NameOf(command.input)));
  return file;
}

absl::StatusOr<Partitioned> PartitionForCheck(const PartitionCommand& command, int64_t num_partitions) {
  ASSIGN_OR_RETURN(const HloFile file, ReadForPartitioning(command));
  PartitionOptions options = command.options;
  options.num_partitions = num_partitions;
  return PartitionModule(*file.module, options);
}

absl::Status RunPartitionCommand(const PartitionCommand& command) {
  PhaseSeconds seconds;
  const Stopwatch start;
  ASSIGN_OR_RETURN(HloFile file, ReadForPartitioning(command));
  seconds.read = start.Seconds();
  const int64_t before = file.module->NumInstructions();

  Partitioned partitioned;
  if (IsToBeReportedOnly(command, *file.module)) {
    absl::StatusOr<Partitioned> result = AsItIs(std::move(file.module));
    if (!result.ok()) return Annotate(result.status(), NameOf(command.input));
    partitioned = *std::move(result);
  } else if (command.options.num_partitions == 1) {
    if (HasManualRegions(*file.module)) {
      return absl::InvalidArgumentError(absl::StrCat(
          NameOf(command.input), ": manual regions cannot run on one device; leave out --num_partitions=1"));
    }
    partitioned.module = std::move(file.module);
  } else {
    absl::StatusOr<Partitioned> result = Partition(command, *file.module);
    if (!result.ok()) return Annotate(result.status(), NameOf(command.input));
    partitioned = *std::move(result);
    HintIfNothingIsSharded(command, *file.module, partitioned);
  }
  seconds.propagate = partitioned.propagate_seconds;
  seconds.partition = partitioned.partition_seconds;
  seconds.optimize = partitioned.optimize_seconds;

  const Stopwatch write;
  if (!command.output.empty()) {
    HloFile out;
    // A snapshot's arguments and result are those of the global program.
    out.container = file.container == Container::kModule ? Container::kModule : Container::kProto;
    out.module = std::move(partitioned.module);
    RETURN_IF_ERROR(command.format ? WriteHloFile(out, command.output, *command.format)
                                   : WriteHloFile(out, command.output));
    partitioned.module = std::move(out.module);
  }
  seconds.write = write.Seconds();
  seconds.total = start.Seconds();

  if (!command.stats.empty()) {
    RETURN_IF_ERROR(WriteOutput(command.stats, StatisticsJson(partitioned, before, seconds) + "\n"));
  }
  PrintExplanation(command, partitioned);
  if (AsksForNothing(command)) {
    std::fputs(SummaryLine(ListCollectives(*partitioned.module), partitioned.num_partitions).c_str(), stdout);
  }
  PrintWarnings(file);
  return absl::OkStatus();
}

}  // namespace toroid
