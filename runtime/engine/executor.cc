#include "runtime/engine/executor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/base/text_table.h"
#include "hlo/passes/mixed_precision.h"
#include "runtime/dynamic/dynamic_size.h"
#include "runtime/engine/memory_limit.h"
#include "runtime/engine/plan_text.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/limit_error.h"
#include "runtime/plan/run_plan.h"
#include "runtime/plan/step_timer.h"
#include "runtime/transport/transport.h"

namespace toroid {
namespace {

// The argument of a dynamic parameter may be a static array of the run-time sizes: turns it into an array of
// the bound.
absl::Status FitToBound(const Shape& expected, int64_t num_devices, MeshValue* argument) {
  const Shape& given = argument->shape();
  if (!expected.IsArray() || !expected.IsDynamic() || given.IsDynamic() || given.rank() != expected.rank() ||
      given.element_type() != expected.element_type()) {
    return absl::OkStatus();
  }
  for (int d = 0; d < given.rank(); ++d) {
    if (given.dim(d) > expected.dim(d) || (!expected.IsDynamic(d) && given.dim(d) != expected.dim(d))) {
      return absl::OkStatus();
    }
  }
  MeshBuffer buffer;
  RETURN_IF_ERROR(
      PadToBound(argument->buffer(), given, expected, argument->uniform() ? 1 : num_devices, &buffer));
  *argument = MeshValue(expected, argument->num_devices(), std::move(buffer));
  return absl::OkStatus();
}

std::string BesideText(int64_t held_bytes) {
  return held_bytes == 0 ? "" : absl::StrCat(" beside the ", BytesText(held_bytes), " of arguments");
}

// The threads of a run that is only planned: what kernels take depends on their number.
struct OwnThreads {
  OwnThreads() {
    if (!ScopedThreads::Any()) scope.emplace(pool.emplace());
  }
  std::optional<ThreadPool> pool;
  std::optional<ScopedThreads> scope;
};

// The devices that are here.
std::pair<int64_t, int64_t> ShareHere(const RunOptions& options) {
  if (options.transport == nullptr) return {0, options.num_devices()};
  return options.transport->ShareOf(options.transport->rank(), options.num_devices());
}

absl::Status CheckArguments(const Computation& entry, const std::vector<MeshValue>& arguments,
                            int64_t num_devices) {
  if (static_cast<int>(arguments.size()) != entry.num_parameters()) {
    return absl::InvalidArgumentError(
        absl::StrCat(entry.name(), ": takes ", entry.num_parameters(), " arguments, got ", arguments.size()));
  }
  for (int i = 0; i < entry.num_parameters(); ++i) {
    const Shape& expected = entry.parameter(i)->shape();
    if (!arguments[i].shape().Compatible(expected)) {
      return absl::InvalidArgumentError(absl::StrCat(entry.name(), "/", entry.parameter(i)->name(),
                                                     ": takes ", expected.ToString(), ", argument ", i,
                                                     " is ", arguments[i].shape().ToString()));
    }
    if (arguments[i].num_devices() != num_devices && !arguments[i].uniform()) {
      return absl::InvalidArgumentError(absl::StrCat(entry.name(), "/", entry.parameter(i)->name(),
                                                     ": argument ", i, " is on ", arguments[i].num_devices(),
                                                     " devices, the mesh has ", num_devices));
    }
  }
  return absl::OkStatus();
}

// A program of a few lines, whose calls nest two by two, can state hours of work without any loop.
constexpr int64_t kMaxStaticSteps = int64_t{1} << 32;
constexpr std::chrono::seconds kDefaultHolds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(const Module& module, PlanOptions options) {
  if (module.entry() == nullptr) return absl::InvalidArgumentError("the module has no entry computation");
  ASSIGN_OR_RETURN(std::unique_ptr<Module> separate, SeparatePrecisions(module));
  std::unique_ptr<Executor> executor(new Executor(std::move(separate), module, options));
  ASSIGN_OR_RETURN(executor->entry_, executor->builder_.Build(*executor->module_.entry()));
  if (StaticSteps(*executor->entry_) > kMaxStaticSteps) {
    return absl::ResourceExhaustedError(
        absl::StrCat(module.entry()->name(), ": calls nest to more than ", kMaxStaticSteps,
                     " instructions to run, loops not counted; use fewer levels of calls"));
  }
  return executor;
}

int64_t Executor::MaxBytes(const RunOptions& options) const {
  if (options.max_bytes > 0) return options.max_bytes;
  const auto now = std::chrono::steady_clock::now();
  if (default_max_bytes_ == 0 || now - default_read_ > kDefaultHolds) {
    default_max_bytes_ = DefaultMaxBytes();
    default_read_ = now;
  }
  return default_max_bytes_;
}

std::string Executor::PlanText() const {
  const OwnThreads threads;
  return toroid::PlanText(*entry_);
}

const PeakEstimate& Executor::Peak(const std::vector<bool>& uniform_arguments, int64_t copies) const {
  const auto [it, is_new] = peaks_.try_emplace({uniform_arguments, copies, NumThreads()});
  if (is_new) it->second = EstimatePeak(*entry_, uniform_arguments, copies);
  return it->second;
}

absl::Status Executor::CheckMemory(const std::vector<bool>& uniform_arguments, const RunOptions& options,
                                   int64_t max_bytes) const {
  const auto [begin, end] = ShareHere(options);
  const OwnThreads threads;
  const PeakEstimate& peak = Peak(uniform_arguments, end - begin);
  if (peak.bytes <= max_bytes - options.held_bytes) return absl::OkStatus();
  const Instruction& where = peak.instruction != nullptr ? *peak.instruction : *module_.entry()->root();
  return OverMemoryLimit(absl::StrCat(where.Path(), ": the values alive here take ", BytesText(peak.bytes),
                                      BesideText(options.held_bytes), ", the limit is ",
                                      BytesText(max_bytes)));
}

absl::StatusOr<MeshValue> Executor::Run(std::vector<MeshValue> arguments, const RunOptions& options) {
  if (options.num_replicas < 1 || options.num_partitions < 1) {
    return absl::InvalidArgumentError(absl::StrCat("a mesh of ", options.num_replicas, " replicas and ",
                                                   options.num_partitions, " partitions"));
  }
  const auto [first_here, end_here] = ShareHere(options);
  const int64_t here = end_here - first_here;
  for (int i = 0; i < std::min<int>(arguments.size(), module_.entry()->num_parameters()); ++i) {
    RETURN_IF_ERROR(FitToBound(module_.entry()->parameter(i)->shape(), here, &arguments[i]));
  }
  RETURN_IF_ERROR(CheckArguments(*module_.entry(), arguments, here));
  std::optional<ScopedThreads> threads;
  if (options.threads > 0 || !ScopedThreads::Any()) {
    if (threads_ == nullptr || (options.threads > 0 && threads_->threads() != options.threads)) {
      threads_ = std::make_unique<ThreadPool>(options.threads);
    }
    threads.emplace(*threads_);
  }
  RunState state;
  state.max_bytes = MaxBytes(options);
  state.held_bytes = options.held_bytes;
  state.transport = options.transport;
  if (options.max_steps > 0) state.steps_left = options.max_steps;
  MeshContext mesh;
  mesh.num_replicas = options.num_replicas;
  mesh.num_partitions = options.num_partitions;
  mesh.num_active = options.num_devices();
  mesh.first_here = first_here;
  mesh.copies = here;
  mesh.run = &state;
  std::vector<bool> uniform;
  for (const MeshValue& argument : arguments) uniform.push_back(argument.uniform());
  RETURN_IF_ERROR(CheckMemory(uniform, options, state.max_bytes));
  std::vector<MeshBuffer> buffers;
  for (MeshValue& argument : arguments) buffers.push_back(std::move(argument.mutable_buffer()));
  if (options.progress != nullptr) EstimateWork(*entry_);
  state.progress = options.progress;
  state.infeed = options.infeed.get();
  StepTimer timer;
  if (options.profile != nullptr) state.timer = &timer;
  MeshBuffer result;
  RETURN_IF_ERROR(RunPlan(*entry_, absl::MakeSpan(buffers), mesh, &result));
  if (options.profile != nullptr) *options.profile = ProfileOf(timer, NumThreads());
  if (options.outfeed != nullptr) *options.outfeed = std::move(state.outfeed);
  return MeshValue(module_.entry()->root()->shape(), here, std::move(result));
}

absl::StatusOr<MeshValue> RunModule(const Module& module, std::vector<MeshValue> arguments,
                                    const RunOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor, Executor::Create(module));
  return executor->Run(std::move(arguments), options);
}

absl::StatusOr<Literal> RunSingle(const Module& module, absl::Span<const Literal> arguments,
                                  const RunOptions& options) {
  std::vector<MeshValue> values;
  for (const Literal& argument : arguments) {
    ASSIGN_OR_RETURN(MeshValue value, MeshValue::Uniform(argument, options.num_devices()));
    values.push_back(std::move(value));
  }
  ASSIGN_OR_RETURN(const MeshValue result, RunModule(module, std::move(values), options));
  return result.ToLiteral(0);
}

absl::StatusOr<MeshValue> RunOnMesh(const Module& module, std::vector<MeshValue> arguments,
                                    int64_t num_partitions) {
  RunOptions options;
  options.num_partitions = num_partitions;
  return RunModule(module, std::move(arguments), options);
}

}  // namespace toroid
