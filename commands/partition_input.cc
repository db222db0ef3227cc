#include "commands/partition_input.h"

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "commands/file_names.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/edit.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/sharding_search/free_shardings.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "simulator/cost/predict_times.h"

namespace toroid {
namespace {

// Writes the module after each phase as HLO text, numbered in order.
absl::Status Dump(const std::string& folder, int number, absl::string_view phase, const Module& module) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  return WriteFile(absl::StrFormat("%s/%02d_%s.hlo", folder, number, phase), PrintModule(module));
}

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

absl::Status GiveShardings(const PartitionCommand& command, HloFile* file) {
  GivenShardings given = command.given;
  if (!command.annotations.empty() && !command.search.is_asked) {
    ASSIGN_OR_RETURN(const std::string text, ReadInput(command.annotations));
    for (ShardingLine& line : ReadShardingLines(text, command.annotations)) {
      given.lines.push_back(std::move(line));
    }
  }
  return GiveShardings(given, file->module.get(), &file->warnings);
}

// Takes off the shardings that a search is to choose anew.
absl::Status Free(const PartitionCommand& command, PartitionInput* input) {
  if (!command.search.is_asked || command.search.free.empty()) return absl::OkStatus();
  input->annotated = CloneModule(*input->file.module);
  return FreeShardings(command.search.free, command.search.fix, input->file.module.get()).status();
}

}  // namespace

absl::StatusOr<std::optional<Slice>> LoadSlice(const std::string& name) {
  if (name.empty()) return std::nullopt;
  Slice slice;
  ASSIGN_OR_RETURN(slice.machine, LoadMachine(name));
  ASSIGN_OR_RETURN(slice.cost, MachineCostModel::Create(slice.machine));
  return slice;
}

namespace {

// A part that no file has is most often misspelled: then all frames are a library's, or none.
void NoteUnusedParts(absl::string_view flag, const std::vector<std::string>& parts, const Module& module) {
  constexpr size_t kFew = 4;
  for (const std::string& part : PartsOfNoFile(parts, module)) {
    const std::vector<std::string> files = SomeFiles(module, kFew);
    const std::string line = absl::StrCat(
        flag, "=", part, ": no file of the program has this in its name; ",
        files.empty()
            ? "it names no files"
            : absl::StrCat("it names ", absl::StrJoin(files, ", "), files.size() == kFew ? ", ..." : ""));
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

}  // namespace

absl::StatusOr<PartitionInput> ReadInputFile(const PartitionCommand& command) {
  PartitionInput input;
  input.observer = ObserverOf(command, input.arrays);
  ASSIGN_OR_RETURN(input.file, ReadHloFile(command.input));
  SetAuthorFiles(command.author_files, input.file.module.get());
  NoteUnusedParts("--author", command.author_files.author, *input.file.module);
  NoteUnusedParts("--not_author", command.author_files.not_author, *input.file.module);
  RETURN_IF_ERROR(Annotate(VerifyModule(*input.file.module), NameOfInput(command.input)));
  RETURN_IF_ERROR(Annotate(Free(command, &input), NameOfInput(command.input)));
  RETURN_IF_ERROR(Annotate(GiveShardings(command, &input.file), NameOfInput(command.input)));
  return input;
}

absl::Status CheckCanBePartitioned(const Module& module) {
  RETURN_IF_ERROR(CheckPartitioningIsRecorded(module));
  if (!IsPartitioned(module)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the module is partitioned already (it has spmd_output_sharding); give the module before partitioning, in "
      "a dump of XLA the file with before_optimizations in its name; --explain without -o reports on this one");
}

PartitionOptions OptionsOf(const PartitionCommand& command, const PartitionInput& input) {
  PartitionOptions options = command.options;
  if (input.slice) {
    options.cost = input.slice->cost.get();
    options.step_seconds = [&](const Module& written) -> absl::StatusOr<double> {
      ASSIGN_OR_RETURN(const PredictedTimes times, PredictTimes(written, input.slice->machine));
      return times.step_seconds;
    };
  }
  return options;
}

absl::StatusOr<Partitioned> PartitionAsAsked(const PartitionCommand& command, const Module& module,
                                             const PartitionInput& input) {
  RETURN_IF_ERROR(CheckCanBePartitioned(module));
  PartitionOptions options = OptionsOf(command, input);
  options.states_plan = command.explain == ExplainMode::kPlan;
  if (!command.plan.empty()) {
    ASSIGN_OR_RETURN(options.plan, ReadInput(command.plan));
    if (options.plan.empty())
      return absl::InvalidArgumentError(absl::StrCat(command.plan, ": the plan is empty"));
  }
  options.observer = input.observer;
  return PartitionModule(module, options);
}

}  // namespace toroid
