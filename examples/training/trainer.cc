#include "examples/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "examples/data/counter_random.h"
#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {
namespace {

// Purposes of random draws, used as counters.
enum : uint64_t { kFresh, kStep };

const NamedShape& StepsArray() {
  static const NamedShape* const array = new NamedShape{"training.steps", Shape(xla::S64, {})};
  return *array;
}

template <typename T>
Literal Draw(const TrainedArray& array, uint64_t seed) {
  Literal literal(array.shape);
  CounterRandom random(seed, {kFresh, TextCounter(array.name)});
  for (T& value : literal.mutable_data<T>()) {
    double x = array.mean;
    if (array.stddev != 0) {
      // Box and Muller's method; 1 - u is above 0.
      const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
      x += array.stddev * radius * std::cos(2 * std::numbers::pi * random.Uniform());
    }
    value = static_cast<T>(x);
  }
  return literal;
}

absl::StatusOr<std::unique_ptr<MeshProgram>> MakeProgram(const Module& module, int64_t devices,
                                                         std::unique_ptr<Module>* partitioned) {
  PartitionOptions options;
  options.num_partitions = devices;
  ASSIGN_OR_RETURN(Partitioned result, PartitionModule(module, options));
  *partitioned = std::move(result.module);
  return MeshProgram::Create(**partitioned, module);
}

// The arrays of a result after the first `skipped`.
absl::StatusOr<Metrics> CollectMetrics(const MeshProgram& program, absl::Span<const MeshValue> results,
                                       int skipped, const std::vector<std::string>& names) {
  Metrics metrics;
  metrics.names = names;
  for (size_t i = skipped; i < results.size(); ++i) {
    ASSIGN_OR_RETURN(Literal value, program.AssembleResult(static_cast<int>(i), results[i]));
    metrics.values.push_back(std::move(value));
  }
  return metrics;
}

absl::Status CheckArity(absl::string_view what, size_t is, size_t should) {
  if (is == should) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " are ", is, ", should be ", should));
}

}  // namespace

const Literal* Metrics::Find(absl::string_view name) const {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? nullptr : &values[it - names.begin()];
}

absl::StatusOr<Literal> FreshArray(const TrainedArray& array, uint64_t seed) {
  switch (array.shape.element_type()) {
    case xla::F32:
      return Draw<float>(array, seed);
    case xla::F64:
      return Draw<double>(array, seed);
    case xla::BF16:
      return Draw<bfloat16>(array, seed);
    case xla::S32:
      return Draw<int32_t>(array, seed);
    case xla::S64:
      return Draw<int64_t>(array, seed);
    case xla::U32:
      return Draw<uint32_t>(array, seed);
    default:
      return absl::InvalidArgumentError(absl::StrCat("array ", array.name, ": nothing of type ",
                                                     array.shape.ToString(),
                                                     " is drawn; use f32, f64, bf16, s32, s64 or u32"));
  }
}

absl::Status Trainer::Check() const {
  const Computation& step = *program_.step->entry();
  const size_t arrays = program_.state.size();
  if (static_cast<size_t>(step.num_parameters()) < arrays + 1 || !step.root()->shape().IsTuple()) {
    return absl::InvalidArgumentError(absl::StrCat(step.name(), ": takes ", step.num_parameters(),
                                                   " arrays, should take ", arrays,
                                                   " of the state, the seed and inputs, and give a tuple"));
  }
  RETURN_IF_ERROR(CheckArity(absl::StrCat(step.name(), ": results"),
                             step.root()->shape().tuple_shapes().size(), arrays + program_.metrics.size()));
  const auto check = [&](const Instruction& is, const Shape& shape, const Shape& should,
                         absl::string_view name) {
    if (shape.Compatible(should)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(is.Path(), ": is ", shape.ToString(), ", ", name, " is ", should.ToString()));
  };
  for (size_t i = 0; i < arrays; ++i) {
    const TrainedArray& array = program_.state[i];
    RETURN_IF_ERROR(check(*step.parameter(i), step.parameter(i)->shape(), array.shape, array.name));
    RETURN_IF_ERROR(check(*step.root(), step.root()->shape().tuple_shape(i), array.shape, array.name));
  }
  RETURN_IF_ERROR(
      check(*step.parameter(arrays), step.parameter(arrays)->shape(), Shape(xla::U32, {}), "the seed"));
  if (program_.evaluation == nullptr) return absl::OkStatus();
  const Computation& evaluation = *program_.evaluation->entry();
  const size_t inputs = step.num_parameters() - arrays - 1;
  RETURN_IF_ERROR(CheckArity(absl::StrCat(evaluation.name(), ": parameters"), evaluation.num_parameters(),
                             program_.evaluation_state.size() + inputs));
  RETURN_IF_ERROR(CheckArity(absl::StrCat(evaluation.name(), ": results"),
                             evaluation.root()->shape().tuple_shapes().size(),
                             program_.evaluation_metrics.size()));
  for (size_t i = 0; i < program_.evaluation_state.size(); ++i) {
    const TrainedArray& array = program_.state[program_.evaluation_state[i]];
    RETURN_IF_ERROR(
        check(*evaluation.parameter(i), evaluation.parameter(i)->shape(), array.shape, array.name));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Create(TrainingProgram program,
                                                         const TrainerOptions& options) {
  std::unique_ptr<Trainer> trainer(new Trainer(std::move(program), options));
  RETURN_IF_ERROR(trainer->Check());
  ASSIGN_OR_RETURN(trainer->step_,
                   MakeProgram(*trainer->program_.step, options.devices, &trainer->partitioned_step_));
  if (trainer->program_.evaluation != nullptr) {
    ASSIGN_OR_RETURN(trainer->evaluation_, MakeProgram(*trainer->program_.evaluation, options.devices,
                                                       &trainer->partitioned_evaluation_));
  }
  RETURN_IF_ERROR(trainer->Start());
  return trainer;
}

absl::Status Trainer::Start() {
  std::vector<MeshValue> state;
  for (size_t i = 0; i < program_.state.size(); ++i) {
    ASSIGN_OR_RETURN(const Literal fresh, FreshArray(program_.state[i], options_.seed));
    ASSIGN_OR_RETURN(MeshValue value, step_->Cut(static_cast<int>(i), fresh));
    state.push_back(std::move(value));
  }
  state_ = std::move(state);
  steps_done_ = 0;
  return absl::OkStatus();
}

std::vector<NamedShape> Trainer::arrays() const {
  std::vector<NamedShape> arrays;
  for (const TrainedArray& array : program_.state) arrays.push_back({array.name, array.shape});
  arrays.push_back(StepsArray());
  return arrays;
}

absl::Status Trainer::Restore(const Checkpoint& checkpoint) {
  std::vector<MeshValue> state;
  for (size_t i = 0; i < program_.state.size(); ++i) {
    ASSIGN_OR_RETURN(MeshValue value, step_->Cut(static_cast<int>(i), checkpoint.arrays[i]));
    state.push_back(std::move(value));
  }
  state_ = std::move(state);
  steps_done_ = checkpoint.arrays[program_.state.size()].data<int64_t>()[0];
  return absl::OkStatus();
}

absl::StatusOr<Checkpoint> Trainer::Save() const {
  RETURN_IF_ERROR(CheckState());
  Checkpoint checkpoint;
  checkpoint.configuration = program_.configuration;
  for (size_t i = 0; i < program_.state.size(); ++i) {
    ASSIGN_OR_RETURN(Literal whole, step_->AssembleParameter(static_cast<int>(i), state_[i]));
    checkpoint.names.push_back(program_.state[i].name);
    checkpoint.arrays.push_back(std::move(whole));
  }
  checkpoint.names.push_back(StepsArray().name);
  checkpoint.arrays.push_back(Literal::Scalar<int64_t>(steps_done_));
  return checkpoint;
}

absl::Status Trainer::CheckState() const {
  if (state_.size() == program_.state.size()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the last step failed and took the state with it; go on from a checkpoint");
}

RunOptions Trainer::MakeRunOptions() const {
  RunOptions options;
  options.threads = options_.threads;
  return options;
}

Literal Trainer::SeedOfStep(int64_t step) const {
  return Literal::Scalar(
      static_cast<uint32_t>(CounterRandom(options_.seed, {kStep, static_cast<uint64_t>(step)}).Next()));
}

absl::StatusOr<Metrics> Trainer::Step(absl::Span<const Literal> inputs) {
  RETURN_IF_ERROR(CheckState());
  const int arrays = static_cast<int>(program_.state.size());
  RETURN_IF_ERROR(CheckArity("inputs", inputs.size(), step_->num_parameters() - arrays - 1));
  ASSIGN_OR_RETURN(MeshValue seed, step_->Cut(arrays, SeedOfStep(steps_done_)));
  std::vector<MeshValue> cut;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSIGN_OR_RETURN(MeshValue value, step_->Cut(arrays + 1 + static_cast<int>(i), inputs[i]));
    cut.push_back(std::move(value));
  }
  std::vector<MeshValue> arguments = std::move(state_);
  state_.clear();
  arguments.push_back(std::move(seed));
  std::move(cut.begin(), cut.end(), std::back_inserter(arguments));
  ASSIGN_OR_RETURN(std::vector<MeshValue> results, step_->Run(std::move(arguments), MakeRunOptions()));
  for (int i = 0; i < arrays; ++i) {
    ASSIGN_OR_RETURN(MeshValue value, step_->Feed(i, std::move(results[i]), i));
    state_.push_back(std::move(value));
  }
  ++steps_done_;
  return CollectMetrics(*step_, results, arrays, program_.metrics);
}

absl::StatusOr<Metrics> Trainer::Evaluate(absl::Span<const Literal> inputs) {
  if (evaluation_ == nullptr) return absl::FailedPreconditionError("the program has no evaluation");
  RETURN_IF_ERROR(CheckState());
  const int arrays = static_cast<int>(program_.evaluation_state.size());
  RETURN_IF_ERROR(CheckArity("inputs", inputs.size(), evaluation_->num_parameters() - arrays));
  std::vector<MeshValue> arguments;
  for (int i = 0; i < arrays; ++i) {
    const int at = program_.evaluation_state[i];
    ASSIGN_OR_RETURN(MeshValue value, evaluation_->Take(*step_, at, state_[at], i));
    arguments.push_back(std::move(value));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    ASSIGN_OR_RETURN(MeshValue value, evaluation_->Cut(arrays + static_cast<int>(i), inputs[i]));
    arguments.push_back(std::move(value));
  }
  ASSIGN_OR_RETURN(const std::vector<MeshValue> results,
                   evaluation_->Run(std::move(arguments), MakeRunOptions()));
  return CollectMetrics(*evaluation_, results, 0, program_.evaluation_metrics);
}

}  // namespace toroid
