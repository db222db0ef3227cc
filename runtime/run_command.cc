#include "runtime/run_command.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/base/files.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/io/file.h"
#include "hlo/io/literal_text.h"
#include "hlo/ir/hlo_sharding.h"
#include "hlo/ops/verify_module.h"
#include "nlohmann/json.hpp"
#include "runtime/compare.h"
#include "runtime/block_pool.h"
#include "runtime/executor.h"
#include "runtime/numpy_arguments.h"
#include "runtime/memory_limit.h"
#include "runtime/npz.h"
#include "runtime/promote.h"
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

// The arrays of an .npz file in order; those named arr_0, arr_1, ... by number.
absl::StatusOr<std::vector<NpyArray>> ReadInfeed(const std::string& path) {
  std::vector<NpyArray> values;
  if (path.empty()) return values;
  ASSIGN_OR_RETURN(const std::string bytes, ReadInput(path));
  auto members = ReadNpz(bytes);
  if (!members.ok()) return Annotate(members.status(), path);
  const size_t n = members->size();
  std::vector<size_t> places(n);
  std::vector<bool> taken(n, false);
  bool by_number = true;
  for (size_t i = 0; i < n && by_number; ++i) {
    size_t& place = places[i];
    by_number = absl::SimpleAtoi(absl::StripPrefix((*members)[i].name, "arr_"), &place) && place < n && !taken[place];
    if (by_number) taken[place] = true;
  }
  values.resize(n);
  for (size_t i = 0; i < n; ++i) values[by_number ? places[i] : i] = std::move((*members)[i].array);
  return values;
}

absl::StatusOr<Arguments> FindArguments(const HloRunCommand& command, const HloFile& file, int64_t num_partitions,
                                        int64_t max_bytes) {
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
    if (!sum || *sum > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the arguments take ", sum ? BytesText(*sum) : "more than 8 EiB", ", the limit is ",
                       BytesText(max_bytes), "; raise it with --max_bytes"));
    }
    bytes = *sum;
  }
  arguments.values = RandomLiterals(shapes, IndexBound(*file.module), command.seed);
  return arguments;
}

// What a run of a program takes and gives, beside arguments and result.
struct Feeds {
  std::vector<NpyArray> infeed;
  std::vector<Literal> outfeed;
};

int64_t ArgumentBytes(const std::vector<Literal>& arguments) {
  int64_t bytes = 0;
  for (const Literal& argument : arguments) bytes += argument.shape().ByteSize();
  return bytes;
}

// Runs a program on one device, or cuts the arguments, runs the program of one partition, and puts the result, of global
// shape `result`, together.
absl::StatusOr<Literal> RunProgram(const Module& module, const std::vector<Literal>& arguments, const Shape* result,
                                   int64_t num_partitions, int64_t max_bytes, Feeds* feeds, double* seconds) {
  RunOptions options;
  options.num_partitions = num_partitions;
  // The literals stay beside what the run holds.
  options.max_bytes = std::max<int64_t>(1, max_bytes - ArgumentBytes(arguments));
  options.infeed = feeds->infeed;
  options.outfeed = &feeds->outfeed;
  if (!IsPartitioned(module)) {
    std::vector<MeshValue> values;
    for (const Literal& argument : arguments) {
      ASSIGN_OR_RETURN(MeshValue value, MeshValue::Uniform(argument, 1));
      values.push_back(std::move(value));
    }
    options.num_partitions = 1;
    const Stopwatch stopwatch;
    ASSIGN_OR_RETURN(const MeshValue output, RunModule(module, std::move(values), options));
    *seconds = stopwatch.Seconds();
    return output.ToLiteral(0);
  }
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
  ASSIGN_OR_RETURN(const MeshValue output, RunModule(module, std::move(values), options));
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

// The same with float arithmetic in f64.
absl::StatusOr<Literal> RunPromoted(const Module& module, const std::vector<Literal>& arguments, const Shape* result,
                                    int64_t num_partitions, int64_t max_bytes, Feeds* feeds, double* seconds) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> promoted, PromoteModule(module));
  std::vector<Literal> wide;
  for (const Literal& argument : arguments) wide.push_back(PromotedLiteral(argument));
  Shape shape;
  if (result != nullptr) shape = PromotedShape(*result);
  return RunProgram(*promoted, wide, result != nullptr ? &shape : nullptr, num_partitions, max_bytes, feeds, seconds);
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

void AppendLeafTypes(const Shape& shape, std::vector<PrimitiveType>* types) {
  for (const Shape& element : shape.tuple_shapes()) AppendLeafTypes(element, types);
  if (shape.IsArray()) types->push_back(shape.element_type());
}

// Of each output how far the plain and the promoted result are from the expected one, relative to its largest element. What
// comes within the rounding of its type in f64 is a matter of rounding; what does not is something else.
nlohmann::ordered_json PromotedReport(const Literal& plain, const Literal& promoted, const Literal& expected,
                                      double tolerance) {
  const Literal wide = PromotedLiteral(expected);
  const Comparison from_plain = Compare(PromotedLiteral(plain), wide), from_promoted = Compare(promoted, wide);
  std::vector<PrimitiveType> types;
  AppendLeafTypes(expected.shape(), &types);
  auto report = nlohmann::ordered_json::array();
  for (size_t i = 0; i < types.size() && i < from_plain.outputs.size() && i < from_promoted.outputs.size(); ++i) {
    const double allowed = tolerance > 0 ? tolerance : Tolerance(types[i]);
    const double plain_error = from_plain.outputs[i].max_rel_error, error = from_promoted.outputs[i].max_rel_error;
    // Infinities and NaNs that do not match are no small error; where they match, a tolerance decides.
    const bool same_kind = Compare(promoted, wide, 1e300).outputs[i].equal;
    const bool equal = from_plain.outputs[i].equal && plain_error == 0;
    report.push_back({{"output", i},
                      {"type", std::string(TypeName(types[i]))},
                      {"plain_error", JsonNumber(plain_error)},
                      {"promoted_error", JsonNumber(error)},
                      {"verdict", equal ? "equal" : same_kind && error <= allowed ? "rounding" : "differs"}});
  }
  return report;
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
    // On one device the module runs as it is, names, dynamic dimensions and all.
    if (num_partitions == 1 && !HasManualRegion(module)) made.reset();
  } else if (command.num_partitions > 1) {
    return absl::UnimplementedError("this program runs only modules that are partitioned already");
  }
  const bool manual = HasManualRegion(module);
  if (manual && num_partitions == 1 && made == nullptr) {
    return absl::InvalidArgumentError("has manual regions, which run on the devices they are written for");
  }
  const Module& program = made != nullptr ? *made : module;
  const int64_t max_bytes = command.max_bytes > 0 ? command.max_bytes : DefaultMaxBytes();
  SetBlockLimit(max_bytes);
  ASSIGN_OR_RETURN(const Arguments arguments, FindArguments(command, file, num_partitions, max_bytes));
  Feeds feeds;
  ASSIGN_OR_RETURN(feeds.infeed, ReadInfeed(command.infeed));

  Literal result;
  const Shape* global = made != nullptr                ? &module.entry()->root()->shape()
                        : arguments.result.has_value() ? &arguments.result->shape()
                                                       : nullptr;
  if (command.promote && !command.check) {
    if (!command.output.empty() || !command.outfeed.empty()) {
      return absl::InvalidArgumentError("--promote prints results, or with --check compares them; leave -o and --outfeed out");
    }
    ASSIGN_OR_RETURN(result, RunPromoted(program, arguments.values, global, num_partitions, max_bytes, &feeds, &run_seconds));
    std::vector<int> path;
    PrintOutputs(result, &path);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(result, RunProgram(program, arguments.values, global, num_partitions, max_bytes, &feeds, &run_seconds));
  if (!command.output.empty()) RETURN_IF_ERROR(WriteResult(file, arguments.values, result, command.output));
  if (!command.outfeed.empty()) {
    ASSIGN_OR_RETURN(const std::string archive, WriteNpz(feeds.outfeed));
    RETURN_IF_ERROR(WriteFile(command.outfeed, archive));
  }
  if (!command.check) {
    std::vector<int> path;
    if (command.output.empty()) PrintOutputs(result, &path);
    return absl::OkStatus();
  }
  CheckReport report;
  bool compared = false;
  std::optional<Literal> expected = arguments.result;
  if (made != nullptr && !manual) {
    Feeds reference_feeds{feeds.infeed, {}};
    ASSIGN_OR_RETURN(const Literal reference, RunProgram(module, arguments.values, nullptr, 1, max_bytes, &reference_feeds,
                                                         &reference_seconds));
    if (!expected.has_value()) expected = reference;
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
  nlohmann::ordered_json json = {
      {"equal", report.equal},
      {"outputs", report.outputs},
      {"max_abs_error", JsonNumber(report.max_abs_error)},
      {"max_rel_error", JsonNumber(report.max_rel_error)},
      {"num_partitions", num_partitions},
      {"seconds",
       {{"partition", partition_seconds}, {"run", run_seconds}, {"reference", reference_seconds}}}};
  if (command.promote) {
    Feeds promoted_feeds{feeds.infeed, {}};
    double seconds;
    ASSIGN_OR_RETURN(const Literal promoted, RunPromoted(program, arguments.values, global, num_partitions, max_bytes,
                                                         &promoted_feeds, &seconds));
    json["promoted"] = PromotedReport(result, promoted, expected.has_value() ? *expected : result, command.tolerance);
  }
  std::printf("%s\n", json.dump().c_str());
  return report.equal ? absl::OkStatus() : absl::FailedPreconditionError(report.difference);
}

}  // namespace

absl::Status RunHloCommand(const HloRunCommand& command) {
  ASSIGN_OR_RETURN(HloFile file, ReadHloFile(command.input));
  return Annotate(RunFile(command, file), command.input);
}

}  // namespace toroid
