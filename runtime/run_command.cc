#include "runtime/run_command.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/sharding_stats.h"
#include "hlo/base/files.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/base/text_table.h"
#include "hlo/io/file.h"
#include "hlo/io/literal_text.h"
#include "hlo/ir/device_limit.h"
#include "hlo/ir/spmd_record.h"
#include "hlo/ops/verify_module.h"
#include "hlo/passes/run_time_sizes_pass.h"
#include "nlohmann/json.hpp"
#include "runtime/block_pool.h"
#include "runtime/check_report.h"
#include "runtime/executor.h"
#include "runtime/memory_limit.h"
#include "runtime/npz.h"
#include "runtime/numpy_arguments.h"
#include "runtime/promote.h"
#include "runtime/run_arguments.h"
#include "runtime/run_partitioned.h"

namespace toroid {
namespace {

constexpr int64_t kMaxPrinted = 64;  // Elements of an output that are printed.

// What a device takes beside its values: 350 bytes were measured where the partitioner permutes 2^20 devices,
// 80 for as many replicas with one collective.
constexpr int64_t kBytesPerDevice = 350;

// What runs: the module of the file, or what the partitioner makes of it.
struct Program {
  const Module* module;
  std::unique_ptr<Module> made;  // By the partitioner; null if the module runs as it is.
  int64_t num_partitions = 1;
  int64_t num_replicas = 1;  // More than 1 only with one partition.
  bool manual = false;       // The file's module runs on the devices it names and no others.
  double partition_seconds = 0;
};

absl::Status CheckDevices(int64_t devices, int64_t max_bytes) {
  if (devices <= 1 || devices <= max_bytes / kBytesPerDevice) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("a mesh of ", devices, " devices takes ",
                   BytesText(CheckedMultiply(devices, kBytesPerDevice).value_or(INT64_MAX)),
                   " beside its values, the limit is ", BytesText(max_bytes), "; raise it with --max_bytes"));
}

absl::StatusOr<Program> MakeProgram(const HloRunCommand& command, const Module& module, int64_t max_bytes) {
  Program program;
  program.module = &module;
  program.manual = HasManualRegions(module);
  RETURN_IF_ERROR(CheckPartitioningIsRecorded(module));
  const int64_t said = module.config().num_partitions;
  if (program.manual && said > 1 && command.num_partitions > 1 && command.num_partitions != said) {
    return absl::InvalidArgumentError(
        absl::StrCat("is written for ", said, " devices; leave --num_partitions out"));
  }
  const int64_t replicas = ReplicasOf(module);
  if (replicas > 1) {
    if (replicas > kMaxDevices)
      return absl::InvalidArgumentError(absl::StrCat("asks for ", replicas, " replicas"));
    if (IsPartitioned(module) || said > 1 || command.num_partitions > 1) {
      return absl::UnimplementedError(absl::StrCat(
          "runs on ", replicas, " replicas of several partitions; here one of the two must be 1"));
    }
    RETURN_IF_ERROR(CheckDevices(replicas, max_bytes));
    program.num_replicas = replicas;
    return program;
  }
  if (IsPartitioned(module)) {
    ASSIGN_OR_RETURN(program.num_partitions, PartitionsOf(module));
    if (command.num_partitions > 0 && command.num_partitions != program.num_partitions) {
      return absl::InvalidArgumentError(absl::StrCat("is partitioned for ", program.num_partitions,
                                                     " devices; leave --num_partitions out"));
    }
    RETURN_IF_ERROR(CheckDevices(program.num_partitions, max_bytes));
  } else if (command.num_partitions != 1 && command.partition != nullptr) {
    RETURN_IF_ERROR(CheckDevices(
        command.num_partitions > 0 ? command.num_partitions : ComputeShardingStats(module).devices,
        max_bytes));
    const Stopwatch stopwatch;
    ASSIGN_OR_RETURN(program.made, command.partition(module, command.num_partitions));
    program.partition_seconds = stopwatch.Seconds();
    if (program.made == nullptr) return program;
    ASSIGN_OR_RETURN(program.num_partitions, PartitionsOf(*program.made));
    // On one device the module runs as it is, names, dynamic dimensions and all.
    if (program.num_partitions == 1 && !program.manual) program.made.reset();
    if (program.made != nullptr) program.module = program.made.get();
  } else if (command.num_partitions > 1) {
    return absl::UnimplementedError("this program runs only modules that are partitioned already");
  }
  if (program.manual && program.num_partitions == 1 && program.made == nullptr) {
    return absl::InvalidArgumentError(
        "has manual regions or collectives, which run on the devices they are written for");
  }
  return program;
}

// Runs modules on the same arguments, feeds and memory.
class Runner {
 public:
  Runner(const std::vector<Literal>& arguments, std::vector<NpyArray> infeed, int64_t num_replicas,
         int64_t max_bytes, bool check_replicas)
      : arguments_(arguments), check_replicas_(check_replicas) {
    options_.num_replicas = num_replicas;
    options_.max_bytes = max_bytes;
    // The literals stay beside what a run holds.
    for (const Literal& argument : arguments) options_.held_bytes += argument.shape().ByteSize();
    options_.infeed = std::move(infeed);
  }

  // A module on one device, or the program of a partition on all of them with the result, of global shape
  // `result` (null: what the shards make), put together.
  absl::StatusOr<Literal> Run(const Module& module, const Shape* result) {
    return Run(module, arguments_, result);
  }

  // The same with float arithmetic in f64.
  absl::StatusOr<Literal> RunPromoted(const Module& module, const Shape* result) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Module> promoted, PromoteModule(module));
    std::vector<Literal> wide;
    for (const Literal& argument : arguments_) wide.push_back(PromotedLiteral(argument));
    Shape shape;
    if (result != nullptr) shape = PromotedShape(*result);
    return Run(*promoted, wide, result != nullptr ? &shape : nullptr);
  }

  // Of the last run.
  double seconds() const { return seconds_; }
  const std::vector<Literal>& outfeed() const { return outfeed_; }

 private:
  absl::StatusOr<Literal> Run(const Module& module, const std::vector<Literal>& arguments,
                              const Shape* result) {
    outfeed_.clear();
    options_.outfeed = &outfeed_;
    if (!IsPartitioned(module)) {
      const Stopwatch stopwatch;
      auto output = RunSingle(module, arguments, options_);
      seconds_ = stopwatch.Seconds();
      return output;
    }
    RunPartitionedOptions options;
    options.run = options_;
    options.assemble.check_replicas = check_replicas_;
    options.result = result;
    options.seconds = &seconds_;
    return RunPartitioned(module, arguments, options);
  }

  const std::vector<Literal>& arguments_;
  const bool check_replicas_;
  RunOptions options_;
  std::vector<Literal> outfeed_;
  double seconds_ = 0;
};

void PrintOutputs(const Literal& literal, std::vector<int>* path) {
  if (literal.shape().IsTuple()) {
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      path->push_back(static_cast<int>(i));
      PrintOutputs(literal.element(static_cast<int>(i)), path);
      path->pop_back();
    }
    return;
  }
  std::string index, text;
  for (const int i : *path) absl::StrAppend(&index, index.empty() ? "" : ",", i);
  if (literal.shape().NumElements() <= kMaxPrinted && literal.shape().IsArray()) {
    AppendLiteral(literal, &text);
  } else {
    text = "{...}";
  }
  std::printf("output{%s} = %s %s\n", index.c_str(), literal.shape().ToString().c_str(), text.c_str());
}

absl::Status WriteResult(HloFile& file, const std::vector<Literal>& arguments, const Literal& result,
                         const std::string& path) {
  if (IsNumpyName(path)) {
    ASSIGN_OR_RETURN(const std::string bytes, NumpyResult(result, path));
    return WriteOutput(path, bytes);
  }
  xla::HloSnapshot* snapshot = file.module->New<xla::HloSnapshot>();
  if (file.snapshot != nullptr) *snapshot = *file.snapshot;
  snapshot->clear_arguments();
  for (const Literal& argument : arguments) argument.ToProto(snapshot->add_arguments());
  snapshot->clear_result();
  result.ToProto(snapshot->mutable_result());
  file.snapshot = snapshot;
  if (file.proto == nullptr) file.proto = file.module->New<xla::HloProto>();
  file.container = Container::kSnapshot;
  return WriteHloFile(file, path);
}

// Compares `result` of the program with the unpartitioned run and the recorded result, and prints the JSON
// line.
absl::Status Check(const HloRunCommand& command, const Module& module, const Program& program,
                   const RunArguments& arguments, const Literal& result, const Shape* global,
                   Runner& runner) {
  const double run_seconds = runner.seconds();
  double reference_seconds = 0;
  CheckReport report;
  std::optional<Literal> expected;
  if (program.made != nullptr && !program.manual) {
    ASSIGN_OR_RETURN(expected, runner.Run(module, nullptr));
    reference_seconds = runner.seconds();
    report.Add(result, *expected, command.tolerance, "the unpartitioned run");
  }
  if (arguments.result.has_value()) {
    expected = arguments.result;
    report.Add(result, *expected, command.tolerance, "the recorded result");
  }
  nlohmann::ordered_json json = {
      {"equal", report.equal},
      {"outputs", report.outputs},
      {"max_abs_error", JsonNumber(report.max_abs_error)},
      {"max_rel_error", JsonNumber(report.max_rel_error)},
      {"num_partitions", program.num_partitions},
      {"seconds",
       {{"partition", program.partition_seconds}, {"run", run_seconds}, {"reference", reference_seconds}}}};
  if (command.promote) {
    ASSIGN_OR_RETURN(const Literal promoted, runner.RunPromoted(*program.module, global));
    json["promoted"] = PromotedReport(result, promoted, *expected, command.tolerance);
  }
  std::printf("%s\n", json.dump().c_str());
  return report.equal ? absl::OkStatus() : absl::FailedPreconditionError(report.difference);
}

absl::Status RunFile(const HloRunCommand& command, HloFile& file) {
  Module& module = *file.module;
  RETURN_IF_ERROR(VerifyModule(module));
  KeepRunTimeSizes(&module);
  RETURN_IF_ERROR(CheckNumpyResult(module.entry()->root()->shape(), command.output));
  if (command.promote && !command.check && !(command.output.empty() && command.outfeed.empty())) {
    return absl::InvalidArgumentError(
        "--promote prints results, or with --check compares them; leave -o and --outfeed out");
  }
  const int64_t max_bytes = command.max_bytes > 0 ? command.max_bytes : DefaultMaxBytes();
  ASSIGN_OR_RETURN(const Program program, MakeProgram(command, module, max_bytes));
  SetBlockLimit(max_bytes);
  ASSIGN_OR_RETURN(const RunArguments arguments, FindArguments(file, command.args, command.seed, max_bytes));
  if (command.check && !arguments.result.has_value() && (program.made == nullptr || program.manual)) {
    return absl::InvalidArgumentError(
        program.num_partitions == 1
            ? "there is nothing to check against: one device and no recorded result; give --num_partitions=N"
            : "there is nothing to check against: no recorded result, no global module");
  }
  ASSIGN_OR_RETURN(std::vector<NpyArray> infeed, ReadInfeed(command.infeed, max_bytes));
  Runner runner(arguments.values, std::move(infeed), program.num_replicas, max_bytes,
                /*check_replicas=*/command.check);
  const Shape* global = program.made != nullptr        ? &module.entry()->root()->shape()
                        : arguments.result.has_value() ? &arguments.result->shape()
                                                       : nullptr;
  std::vector<int> path;
  if (command.promote && !command.check) {
    ASSIGN_OR_RETURN(const Literal result, runner.RunPromoted(*program.module, global));
    PrintOutputs(result, &path);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Literal result, runner.Run(*program.module, global));
  if (!command.output.empty()) RETURN_IF_ERROR(WriteResult(file, arguments.values, result, command.output));
  if (!command.outfeed.empty()) {
    ASSIGN_OR_RETURN(const std::string archive, WriteNpz(runner.outfeed()));
    RETURN_IF_ERROR(WriteOutput(command.outfeed, archive));
  }
  if (command.check) return Check(command, module, program, arguments, result, global, runner);
  if (command.output.empty()) PrintOutputs(result, &path);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunHloCommand(const HloRunCommand& command) {
  ASSIGN_OR_RETURN(HloFile file, ReadHloFile(command.input));
  RETURN_IF_ERROR(Annotate(RunFile(command, file), command.input));
  PrintWarnings(file);
  return absl::OkStatus();
}

}  // namespace toroid
