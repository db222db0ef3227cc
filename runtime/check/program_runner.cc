// BUILD: deps += "//runtime/kernels/linear_algebra"
#include "runtime/check/program_runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/devices/spmd_record.h"
#include "runtime/check/check_outcome.h"
#include "runtime/numerics/promote.h"
#include "runtime/partitioned/ranks_run.h"
#include "runtime/partitioned/run_partitioned.h"
#include "runtime/plan/progress.h"

namespace toroid {
namespace {

// A lower bound of what literals of these shapes hold, as ProgramRunner counts it.
int64_t BytesOf(absl::Span<const Shape> shapes) {
  int64_t bytes = 0;
  for (const Shape& shape : shapes) bytes = CheckedAdd(bytes, shape.ByteSize()).value_or(INT64_MAX);
  return bytes;
}

bool IsSameOnAll(const HloSharding& sharding) { return sharding.kind() == HloSharding::Kind::kReplicated; }

}  // namespace

absl::Status CheckRunMemory(const Module& module, absl::Span<const Shape> arguments, int64_t num_replicas,
                            int64_t max_bytes, Transport* transport) {
  RunOptions options;
  options.transport = transport;
  options.num_replicas = num_replicas;
  options.max_bytes = max_bytes;
  options.held_bytes = BytesOf(arguments);
  const int num_parameters = module.entry()->num_parameters();
  std::vector<bool> uniform(num_parameters, true);
  if (IsPartitioned(module)) {
    ASSIGN_OR_RETURN(options.num_partitions, PartitionsOf(module));
    for (int i = 0; i < num_parameters; ++i) {
      ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, ParameterShardings(module, i));
      uniform[i] = std::any_of(shardings.begin(), shardings.end(), IsSameOnAll);
    }
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::Create(module));
  return executor->CheckMemory(uniform, options);
}

ProgramRunner::ProgramRunner(const std::vector<Literal>& arguments, std::shared_ptr<const Infeed> infeed,
                             Options options)
    : arguments_(arguments), options_(std::move(options)) {
  run_.num_replicas = options_.num_replicas;
  run_.max_bytes = options_.max_bytes;
  // The literals stay beside what a run holds.
  for (const Literal& argument : arguments) run_.held_bytes += argument.shape().ByteSize();
  run_.infeed = std::move(infeed);
}

absl::StatusOr<ProgramRun> ProgramRunner::Run(const Module& module, const Shape* result,
                                              absl::string_view what) {
  return Run(module, arguments_, options_.tolerances, result, what);
}

absl::StatusOr<ProgramRun> ProgramRunner::RunPromoted(const Module& module, const Shape* result,
                                                      absl::string_view what) {
  ASSIGN_OR_RETURN(const PromotedModule promoted, PromoteModule(module));
  std::vector<Literal> wide;
  for (const Literal& argument : arguments_) wide.push_back(PromotedLiteral(argument));
  Shape shape;
  if (result != nullptr) shape = PromotedShape(*result);
  ASSIGN_OR_RETURN(ProgramRun run, Run(*promoted.module, wide, {kProofTolerance},
                                       result != nullptr ? &shape : nullptr, what));
  run.rounding_ops = promoted.rounding_ops;
  run.jumps = promoted.jumps;
  return run;
}

absl::StatusOr<ProgramRun> ProgramRunner::Run(const Module& module, const std::vector<Literal>& arguments,
                                              absl::Span<const double> tolerances, const Shape* result,
                                              absl::string_view what) {
  outfeed_.clear();
  run_.outfeed = &outfeed_;
  std::optional<Progress> progress;
  if (options_.show_progress) run_.progress = &progress.emplace(std::string(what));
  ProgramRun run;
  if (options_.profile) run_.profile = &run.profile;
  const bool partitioned = IsPartitioned(module);
  run_.transport = partitioned || run_.num_replicas > 1 ? options_.transport : nullptr;
  if (!partitioned && run_.transport != nullptr) {
    const auto same = [&](int i, int64_t begin, int64_t end) {
      return MeshValue::Uniform(arguments[i], end - begin);
    };
    ASSIGN_OR_RETURN(const MeshValue output, RunOnRanks(module, same, run_, /*whole=*/false, &run.seconds));
    run.result = output.ToLiteral(0);
    return run;
  }
  if (!partitioned) {
    const Stopwatch stopwatch;
    ASSIGN_OR_RETURN(run.result, RunSingle(module, arguments, run_));
    run.seconds = stopwatch.Seconds();
    return run;
  }
  RunPartitionedOptions options;
  options.run = run_;
  options.assemble.check_replicas = options_.check_replicas;
  options.assemble.tolerances = tolerances;
  options.assemble.rounding = &run.device_rounding;
  options.result = result;
  options.seconds = &run.seconds;
  ASSIGN_OR_RETURN(run.result, RunPartitioned(module, arguments, options));
  return run;
}

}  // namespace toroid
