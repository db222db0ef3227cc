#include "commands/run_command.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/sharding_stats.h"
#include "hlo/base/files.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/base/terminal.h"
#include "hlo/base/text_table.h"
#include "hlo/devices/replicas.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/file.h"
#include "hlo/io/literal_text.h"
#include "hlo/ops/verify_module.h"
#include "hlo/passes/run_time_sizes_pass.h"
#include "runtime/arguments/numpy_arguments.h"
#include "runtime/arguments/run_arguments.h"
#include "runtime/check/check_outcome.h"
#include "runtime/check/program_runner.h"
#include "runtime/check/run_check.h"
#include "runtime/engine/executor.h"
#include "runtime/engine/memory_limit.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/block_pool.h"
#include "runtime/mesh/limit_error.h"
#include "runtime/numerics/compare.h"
#include "runtime/numerics/narrowest_float.h"
#include "runtime/numerics/promote.h"
#include "runtime/partitioned/ranks_run.h"
#include "runtime/transport/run_on_mpi.h"

namespace toroid {
namespace {

constexpr int64_t kMaxPrinted = 64;  // Elements of an output that are printed.

// What a device takes beside its values: 350 bytes were measured where the partitioner permutes 2^20 devices,
// 80 for as many replicas with one collective.
constexpr int64_t kBytesPerDevice = 350;

// What runs: the module of the file, or what the partitioner makes of it.
struct Program {
  const Module* module;
  std::shared_ptr<const Module> made;  // By the partitioner; null if the module runs as it is.
  int64_t num_partitions = 1;
  int64_t num_replicas = 1;
  bool manual = false;  // The file's module runs on the devices it names and no others.
  double partition_seconds = 0;
};

absl::Status CheckDevices(int64_t devices, int64_t max_bytes) {
  if (devices <= 1 || devices <= max_bytes / kBytesPerDevice) return absl::OkStatus();
  return OverMemoryLimit(
      absl::StrCat("a mesh of ", devices, " devices takes ",
                   BytesText(CheckedMultiply(devices, kBytesPerDevice).value_or(INT64_MAX)),
                   " beside its values, the limit is ", BytesText(max_bytes)));
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
  ASSIGN_OR_RETURN(const int64_t replicas, ReplicasToRun(module, command.num_replicas));
  const bool partitions = IsPartitioned(module) || said > 1 || command.num_partitions > 1 ||
                          (command.num_partitions == 0 && command.partition != nullptr &&
                           ComputeShardingStats(module).devices > 1);
  if (replicas > 1) {
    if (partitions && ReplicasOf(module) <= 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("has collectives between ", replicas,
                       " replicas; beside several partitions give --replicas=", replicas));
    }
    RETURN_IF_ERROR(CheckDevices(replicas * std::max<int64_t>(1, command.num_partitions), max_bytes));
    program.num_replicas = replicas;
    if (!partitions) return program;
  }
  if (IsPartitioned(module)) {
    ASSIGN_OR_RETURN(program.num_partitions, PartitionsOf(module));
    if (command.num_partitions > 0 && command.num_partitions != program.num_partitions) {
      return absl::InvalidArgumentError(absl::StrCat("is partitioned for ", program.num_partitions,
                                                     " devices; leave --num_partitions out"));
    }
    RETURN_IF_ERROR(CheckDevices(program.num_partitions * program.num_replicas, max_bytes));
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

bool IsTerminal() { return isatty(STDERR_FILENO) != 0; }

std::vector<double> TolerancesOf(const HloRunCommand& command, const Module& module) {
  if (command.tolerance.has_value()) return {*command.tolerance};
  return OutputTolerances(module);
}

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

// Prints the profile's table, and writes its trace.
absl::Status ReportProfile(const HloRunCommand& command, const RunProfile& profile) {
  if (command.profile) {
    ThreadPool pool;
    const ScopedThreads threads(pool);
    std::fputs(ProfileText(profile, MeasureRates(), OutputWidth()).c_str(), stderr);
  }
  return command.trace.empty() ? absl::OkStatus() : WriteOutput(command.trace, TraceJson(profile));
}

// Runs the program; with --check compares the result, and prints the line.
absl::Status RunAndReport(const HloRunCommand& command, HloFile& file, const Program& program,
                          const RunArguments& arguments, ProgramRunner& runner) {
  const Module& module = *file.module;
  const Shape* global = program.made != nullptr        ? &module.entry()->root()->shape()
                        : arguments.result.has_value() ? &arguments.result->shape()
                                                       : nullptr;
  const bool plain = command.check || !command.promote;
  ASSIGN_OR_RETURN(const ProgramRun run,
                   plain ? runner.Run(*program.module, global, "run")
                         : runner.RunPromoted(*program.module, global, "run without rounding"));
  const Literal& result = run.result;
  RETURN_IF_ERROR(ReportProfile(command, run.profile));
  if (!command.outfeed.empty()) {
    ASSIGN_OR_RETURN(const std::string archive, OutfeedArchive(runner.outfeed()));
    RETURN_IF_ERROR(WriteOutput(command.outfeed, archive));
  }
  if (!command.output.empty()) {
    // A snapshot holds what the module declares; arrays may be of any type.
    const bool narrow = !plain && !IsNumpyName(command.output);
    RETURN_IF_ERROR(WriteResult(file, arguments.values,
                                narrow ? DemotedLiteral(result, module.entry()->root()->shape()) : result,
                                command.output));
  }
  if (IsTerminal()) {
    const std::string warning = NonfiniteWarning(NonfiniteShares(result));
    if (!warning.empty()) std::fprintf(stderr, "%s, give others with --args\n", warning.c_str());
  }
  if (!command.check) {
    std::vector<int> path;
    if (command.output.empty()) PrintOutputs(result, &path);
    return absl::OkStatus();
  }
  RunCheck check;
  check.program = program.module;
  if (program.made != nullptr && !program.manual) check.reference = &module;
  if (arguments.result.has_value()) check.recorded = &*arguments.result;
  check.global = global;
  check.tolerances = TolerancesOf(command, module);
  check.tolerance_is_given = command.tolerance.has_value();
  check.promote = command.promote;
  check.num_partitions = program.num_partitions;
  check.partition_seconds = program.partition_seconds;
  ASSIGN_OR_RETURN(const CheckOutcome outcome, CheckRun(check, run, runner));
  // What mpirun gives its ranks for standard output looks like a terminal and is none.
  const bool is_read = command.transport == TransportKind::kLocal && isatty(STDOUT_FILENO) != 0;
  std::printf("%s\n", ToJson(outcome, is_read).dump().c_str());
  if (IsTerminal() && outcome.equal()) std::fprintf(stderr, "%s\n", EqualText(outcome).c_str());
  return outcome.equal() ? absl::OkStatus() : absl::FailedPreconditionError(outcome.difference);
}

// Most bytes of values of this process, of `neighbors` that share the machine.
int64_t MaxBytes(const HloRunCommand& command, int neighbors) {
  return command.max_bytes > 0 ? command.max_bytes : DefaultMaxBytes() / neighbors;
}

// The ranks that the devices are spread over, if they are.
struct RanksHere {
  Transport* transport = nullptr;
  int neighbors = 1;  // On this machine.
};

// Generating arguments takes longer than seeing that the runs they are for cannot hold their values.
absl::Status CheckRunsFit(const HloRunCommand& command, const Module& module, const Program& program,
                          int64_t max_bytes, const RanksHere& ranks) {
  ASSIGN_OR_RETURN(const std::vector<Shape> shapes, GlobalArgumentShapes(module));
  RETURN_IF_ERROR(CheckArgumentBytes(shapes, max_bytes));
  RETURN_IF_ERROR(CheckRunMemory(*program.module, shapes, program.num_replicas, max_bytes, ranks.transport));
  if (!command.check || program.made == nullptr || program.manual) return absl::OkStatus();
  return CheckRunMemory(module, shapes, program.num_replicas, max_bytes);
}

std::string NothingToCheckAgainst(const Program& program) {
  constexpr absl::string_view kNothing = "there is nothing to check against: ";
  if (program.made != nullptr && program.manual) {
    return absl::StrCat(
        kNothing,
        "a module with manual regions (shard_map) does not run on one device, and there is no recorded result; "
        "give the result of another runtime with --expect=FILE.npz");
  }
  if (program.num_partitions == 1) {
    return absl::StrCat(kNothing, "one device and no recorded result; give --num_partitions=N");
  }
  return absl::StrCat(
      kNothing,
      "no recorded result, no global module; check the module that this one was made from, with hlo-run IN "
      "--check or hlo-partition IN --shard ... --check, or give the result with --expect=FILE.npz");
}

absl::Status RunFile(const HloRunCommand& command, HloFile& file, const RanksHere& ranks) {
  Module& module = *file.module;
  RETURN_IF_ERROR(VerifyModule(module));
  RETURN_IF_ERROR(GiveShardings(command.given, &module, &file.warnings));
  KeepRunTimeSizes(&module);
  RETURN_IF_ERROR(CheckNumpyResult(module.entry()->root()->shape(), command.output));
  const int64_t max_bytes = MaxBytes(command, ranks.neighbors);
  if (command.num_replicas > 1) {
    RETURN_IF_ERROR(ReplicasToRun(module, command.num_replicas).status());
    SetReplicas(command.num_replicas, &module);
  }
  ASSIGN_OR_RETURN(const Program program, MakeProgram(command, module, max_bytes));
  if (command.plan) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::Create(*program.module));
    std::fputs(executor->PlanText().c_str(), stdout);
    return absl::OkStatus();
  }
  if (AreArgumentsGenerated(file, command.args)) {
    RETURN_IF_ERROR(CheckRunsFit(command, module, program, max_bytes, ranks));
  }
  const ScopedBlockLimit limit(max_bytes);
  ASSIGN_OR_RETURN(RunArguments arguments, FindArguments(file, command.args, command.seed, max_bytes));
  if (!command.expected.empty()) {
    ASSIGN_OR_RETURN(arguments.result, ReadExpected(module, command.expected, max_bytes));
  }
  if (command.check && !arguments.result.has_value() && (program.made == nullptr || program.manual)) {
    return absl::InvalidArgumentError(NothingToCheckAgainst(program));
  }
  ASSIGN_OR_RETURN(std::shared_ptr<const Infeed> infeed, ReadInfeed(command.infeed, max_bytes));
  ProgramRunner::Options options;
  options.num_replicas = program.num_replicas;
  options.max_bytes = max_bytes;
  options.check_replicas = command.check;
  if (command.check) options.tolerances = TolerancesOf(command, module);
  options.show_progress = IsTerminal();
  options.profile = command.profile || !command.trace.empty();
  options.transport = ranks.transport;
  ProgramRunner runner(arguments.values, std::move(infeed), options);
  return RunAndReport(command, file, program, arguments, runner);
}

// The limit on memory is --max_bytes here.
absl::Status NamingTheFlag(const absl::Status& status) {
  if (!IsOverMemoryLimit(status)) return status;
  return absl::Status(status.code(), absl::StrCat(status.message(), "; raise it with --max_bytes"));
}

absl::Status RunHere(const HloRunCommand& command, const RanksHere& ranks) {
  ASSIGN_OR_RETURN(HloFile file, ReadHloFile(command.input));
  RETURN_IF_ERROR(NamingTheFlag(AnnotateMarked(RunFile(command, file, ranks), command.input)));
  PrintWarnings(file);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunHloFile(const HloRunCommand& command, HloFile& file) {
  return Annotate(RunFile(command, file, {}), command.input);
}

absl::Status RunHloCommand(const HloRunCommand& command) {
  if (command.transport == TransportKind::kLocal) return RunHere(command, {});
  const auto threads = [](int neighbors) {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / neighbors);
  };
  return RunOnMpi(
      command.command_line, {command.input, command.args, command.expected, command.infeed},
      [&](Transport& transport, int neighbors) -> absl::Status {
        ThreadPool pool(threads(neighbors));
        const ScopedThreads scope(pool);
        RETURN_IF_ERROR(RunHere(command, {transport.size() > 1 ? &transport : nullptr, neighbors}));
        return EndRuns(transport);
      },
      [&](Transport& transport, int neighbors) -> absl::Status {
        ThreadPool pool(threads(neighbors));
        const ScopedThreads scope(pool);
        RunOptions options;
        options.max_bytes = MaxBytes(command, neighbors);
        options.transport = &transport;
        const ScopedBlockLimit limit(options.max_bytes);
        return NamingTheFlag(ServeRuns(options));
      });
}

}  // namespace toroid
