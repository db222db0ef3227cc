#include "runtime/run_command.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/files.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/io/file.h"
#include "hlo/io/literal_text.h"
#include "hlo/ir/hlo_sharding.h"
#include "hlo/ops/verify_module.h"
#include "nlohmann/json.hpp"
#include "runtime/compare.h"
#include "runtime/executor.h"
#include "runtime/numpy_arguments.h"
#include "runtime/random_arguments.h"
#include "runtime/shard_literal.h"

namespace toroid {
namespace {

constexpr int64_t kMaxPrinted = 64;  // Elements of an output that are printed.

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool IsPartitioned(const Module& module) { return module.proto().has_spmd_output_sharding(); }

// Devices that a partitioned module is for.
int64_t PartitionsOf(const Module& module) {
  if (module.proto().has_device_assignment()) return module.proto().device_assignment().computation_count();
  return module.config().num_partitions;
}

bool HasManualRegion(const Module& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (IsCollective(instruction->opcode())) return true;  // Written by hand: it names devices.
      if (instruction->opcode() != Opcode::kCustomCall) continue;
      const absl::string_view target = instruction->custom_call_target();
      if (target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape") return true;
    }
  }
  return false;
}

// How one parameter is cut: replicated unless the module says otherwise.
absl::StatusOr<std::vector<HloSharding>> ParameterSharding(const Module& module, int i) {
  const Shape& shape = module.entry()->parameter(i)->shape();
  if (i >= module.proto().spmd_parameters_shardings_size()) {
    return std::vector<HloSharding>(shape.NumLeaves());
  }
  return HloSharding::LeavesFromProto(module.proto().spmd_parameters_shardings(i), shape);
}

absl::StatusOr<std::vector<HloSharding>> OutputSharding(const Module& module) {
  return HloSharding::LeavesFromProto(module.proto().spmd_output_sharding(), module.entry()->root()->shape());
}

// Shapes of the global arguments.
absl::StatusOr<std::vector<Shape>> ArgumentShapes(const Module& module, int64_t num_partitions) {
  std::vector<Shape> shapes;
  for (int i = 0; i < module.entry()->num_parameters(); ++i) {
    Shape shape = module.entry()->parameter(i)->shape();
    if (IsPartitioned(module)) {
      ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, ParameterSharding(module, i));
      ASSIGN_OR_RETURN(shape, GlobalShape(shape, shardings, num_partitions));
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

struct Arguments {
  std::vector<Literal> values;
  std::optional<Literal> result;  // Recorded with them.
};

absl::StatusOr<Arguments> ReadSnapshotArguments(const HloFile& file) {
  Arguments arguments;
  ASSIGN_OR_RETURN(arguments.values, file.Arguments());
  ASSIGN_OR_RETURN(arguments.result, file.Result());
  return arguments;
}

absl::StatusOr<Arguments> FindArguments(const HloRunCommand& command, const HloFile& file,
                                        int64_t num_partitions) {
  if (!command.args.empty()) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadInput(command.args));
    if (LooksLikeNumpy(bytes)) {
      auto values = NumpyArguments(bytes, *file.module->entry());
      if (!values.ok()) return Annotate(values.status(), command.args);
      return Arguments{*std::move(values), std::nullopt};
    }
    auto snapshot = ReadHlo(bytes);
    if (!snapshot.ok()) return Annotate(snapshot.status(), command.args);
    if (!snapshot->HasArguments() && file.module->entry()->num_parameters() > 0) {
      return absl::InvalidArgumentError(absl::StrCat(command.args, ": holds no arguments"));
    }
    return ReadSnapshotArguments(*snapshot);
  }
  if (file.HasArguments() || file.snapshot != nullptr) return ReadSnapshotArguments(file);
  Arguments arguments;
  ASSIGN_OR_RETURN(const std::vector<Shape> shapes, ArgumentShapes(*file.module, num_partitions));
  int64_t bytes = 0;
  for (const Shape& shape : shapes) {
    const std::optional<int64_t> sum = CheckedAdd(bytes, shape.ByteSize());
    if (!sum || *sum > DefaultMaxBytes()) {
      return absl::ResourceExhaustedError(absl::StrCat("the arguments take more than the limit of ", DefaultMaxBytes(),
                                                       " bytes"));
    }
    bytes = *sum;
  }
  arguments.values = RandomLiterals(shapes, IndexBound(*file.module), command.seed);
  return arguments;
}

// Cuts the arguments, runs, and puts the result, of global shape `result`, together.
absl::StatusOr<Literal> RunPartitioned(const Module& module, const std::vector<Literal>& arguments,
                                       const Shape* result, int64_t num_partitions, double* seconds) {
  if (static_cast<int>(arguments.size()) != module.entry()->num_parameters()) {
    return absl::InvalidArgumentError(absl::StrCat(module.entry()->name(), ": takes ",
                                                   module.entry()->num_parameters(), " arguments, got ",
                                                   arguments.size()));
  }
  std::vector<MeshValue> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                     ParameterSharding(module, static_cast<int>(i)));
    auto value = CutLiteral(arguments[i], shardings, num_partitions);
    if (!value.ok()) return Annotate(value.status(), absl::StrCat("argument ", i));
    values.push_back(*std::move(value));
  }
  const Stopwatch stopwatch;
  ASSIGN_OR_RETURN(const MeshValue output, RunOnMesh(module, std::move(values), num_partitions));
  *seconds = stopwatch.Seconds();
  ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, OutputSharding(module));
  Shape global;
  if (result != nullptr) {
    global = *result;
  } else {
    ASSIGN_OR_RETURN(global, GlobalShape(output.shape(), shardings, num_partitions));
  }
  return AssembleLiteral(output, global, shardings);
}

double JsonNumber(double value) { return std::isfinite(value) ? value : 1e308; }

struct CheckReport {
  bool equal = true;
  int outputs = 0;
  double max_abs_error = 0, max_rel_error = 0;
  std::string difference;

  void Add(const Literal& actual, const Literal& expected, double tolerance, absl::string_view what) {
    const Comparison comparison = Compare(actual, expected, tolerance);
    equal &= comparison.equal;
    outputs = static_cast<int>(comparison.outputs.size());
    max_abs_error = std::max(max_abs_error, comparison.max_abs_error);
    max_rel_error = std::max(max_rel_error, comparison.max_rel_error);
    for (size_t i = 0; i < comparison.outputs.size() && difference.empty(); ++i) {
      if (comparison.outputs[i].equal) continue;
      difference =
          absl::StrCat("output ", i, " differs from ", what, " at ", comparison.outputs[i].difference);
    }
  }
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

absl::Status RunFile(const HloRunCommand& command, HloFile& file) {
  Module& module = *file.module;
  RETURN_IF_ERROR(VerifyModule(module));
  RETURN_IF_ERROR(CheckNumpyResult(module.entry()->root()->shape(), command.output));
  // The module to run: this one, or what the partitioner makes of it.
  std::unique_ptr<Module> made;
  double partition_seconds = 0, run_seconds = 0, reference_seconds = 0;
  int64_t num_partitions = 1;
  if (IsPartitioned(module)) {
    num_partitions = PartitionsOf(module);
    if (command.num_partitions > 0 && command.num_partitions != num_partitions) {
      return absl::InvalidArgumentError(
          absl::StrCat("is partitioned for ", num_partitions, " devices; leave --num_partitions out"));
    }
  } else if (command.num_partitions != 1 && command.partition != nullptr) {
    const Stopwatch stopwatch;
    ASSIGN_OR_RETURN(made, command.partition(module, command.num_partitions));
    partition_seconds = stopwatch.Seconds();
    num_partitions = PartitionsOf(*made);
  } else if (command.num_partitions > 1) {
    return absl::UnimplementedError("this program runs only modules that are partitioned already");
  }
  const bool manual = HasManualRegion(module);
  if (manual && num_partitions == 1 && made == nullptr) {
    return absl::InvalidArgumentError("has manual regions, which run on the devices they are written for");
  }
  const Module& program = made != nullptr ? *made : module;
  ASSIGN_OR_RETURN(const Arguments arguments, FindArguments(command, file, num_partitions));

  Literal result;
  const bool spmd = IsPartitioned(program);
  const Shape* global = made != nullptr                ? &module.entry()->root()->shape()
                        : arguments.result.has_value() ? &arguments.result->shape()
                                                       : nullptr;
  if (spmd) {
    ASSIGN_OR_RETURN(result, RunPartitioned(program, arguments.values, global, num_partitions, &run_seconds));
  } else {
    const Stopwatch stopwatch;
    ASSIGN_OR_RETURN(result, RunSingle(program, arguments.values));
    run_seconds = stopwatch.Seconds();
  }
  if (!command.output.empty()) RETURN_IF_ERROR(WriteResult(file, arguments.values, result, command.output));
  if (!command.check) {
    std::vector<int> path;
    if (command.output.empty()) PrintOutputs(result, &path);
    return absl::OkStatus();
  }
  CheckReport report;
  bool compared = false;
  if (made != nullptr && !manual) {
    const Stopwatch stopwatch;
    ASSIGN_OR_RETURN(const Literal reference, RunSingle(module, arguments.values));
    reference_seconds = stopwatch.Seconds();
    report.Add(result, reference, command.tolerance, "the unpartitioned run");
    compared = true;
  }
  if (arguments.result.has_value()) {
    report.Add(result, *arguments.result, command.tolerance, "the recorded result");
    compared = true;
  }
  if (!compared) {
    if (IsPartitioned(module) || manual) {
      return absl::InvalidArgumentError(
          "there is nothing to check against: no recorded result, no global module");
    }
    report.Add(result, result, command.tolerance, "itself");
  }
  const nlohmann::ordered_json json = {
      {"equal", report.equal},
      {"outputs", report.outputs},
      {"max_abs_error", JsonNumber(report.max_abs_error)},
      {"max_rel_error", JsonNumber(report.max_rel_error)},
      {"num_partitions", num_partitions},
      {"seconds",
       {{"partition", partition_seconds}, {"run", run_seconds}, {"reference", reference_seconds}}}};
  std::printf("%s\n", json.dump().c_str());
  return report.equal ? absl::OkStatus() : absl::FailedPreconditionError(report.difference);
}

}  // namespace

absl::Status RunHloCommand(const HloRunCommand& command) {
  ASSIGN_OR_RETURN(HloFile file, ReadHloFile(command.input));
  return Annotate(RunFile(command, file), command.input);
}

}  // namespace toroid
