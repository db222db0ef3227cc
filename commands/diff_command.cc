#include "commands/diff_command.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "commands/file_names.h"
#include "explain/diff/diff_json.h"
#include "explain/diff/diff_text.h"
#include "explain/diff/page/page.h"
#include "explain/diff/program_diff.h"
#include "hlo/analysis/sharding_stats.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/base/terminal.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/file.h"
#include "hlo/ops/verify_module.h"
#include "simulator/cost/predict_times.h"
#include "simulator/machines/machine.h"

namespace toroid {
namespace {

absl::Status CheckIsForOneDevice(const Module& module) {
  if (IsPartitioned(module) || LooksPartitioned(module) || IsProgramOfOneDevice(module)) {
    return IsPartitioned(module) ? PartitionsOf(module).status() : absl::OkStatus();
  }
  const ShardingStats stats = ComputeShardingStats(module);
  const bool is_sharded = stats.annotated > 0 && stats.devices > 1;
  if (!is_sharded && !HasManualRegions(module)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "is not partitioned yet; hlo-partition FILE -o OUT writes the program of one device, in a dump of XLA it is the file "
      "with after_spmd-partitioning or after_optimizations in its name");
}

absl::StatusOr<HloFile> ReadProgram(const std::string& path) {
  ASSIGN_OR_RETURN(HloFile file, ReadHloFile(path));
  RETURN_IF_ERROR(Annotate(VerifyModule(*file.module), NameOfInput(path)));
  RETURN_IF_ERROR(Annotate(CheckIsForOneDevice(*file.module), NameOfInput(path)));
  return file;
}

// Those given; otherwise the names of the files without their folders, if these tell them apart.
std::pair<std::string, std::string> Labels(const DiffCommand& command) {
  if (command.labels.size() == 2) return {command.labels[0], command.labels[1]};
  const auto name = [](const std::string& path) { return std::filesystem::path(path).filename().string(); };
  if (command.a == "-" || command.b == "-" || name(command.a) == name(command.b)) {
    return {NameOfInput(command.a), NameOfInput(command.b)};
  }
  return {name(command.a), name(command.b)};
}

}  // namespace

absl::StatusOr<bool> RunDiffCommand(const DiffCommand& command) {
  if (command.a == "-" && command.b == "-") {
    return absl::InvalidArgumentError(
        "both modules cannot come from standard input; give one of them as a file");
  }
  PredictedTimesOf times_of;
  if (!command.machine.empty()) {
    ASSIGN_OR_RETURN(const Machine machine, LoadMachine(command.machine));
    times_of = [machine](const Module& module) { return PredictTimes(module, machine); };
  }
  ASSIGN_OR_RETURN(const HloFile a, ReadProgram(command.a));
  ASSIGN_OR_RETURN(const HloFile b, ReadProgram(command.b));
  const auto [label_a, label_b] = Labels(command);
  ASSIGN_OR_RETURN(const ProgramDiff diff,
                   DiffPrograms({*a.module, label_a}, {*b.module, label_b}, times_of));
  const std::string text = DiffText(diff, OutputWidth(), command.full);
  if (!command.json.empty()) RETURN_IF_ERROR(WriteOutput(command.json, DiffJson(diff, text) + "\n"));
  if (!command.html.empty()) RETURN_IF_ERROR(WriteOutput(command.html, DiffPageText(diff)));
  if (command.json != "-" && command.html != "-") std::fputs(text.c_str(), stdout);
  PrintWarnings(a);
  PrintWarnings(b);
  return diff.same;
}

}  // namespace toroid
