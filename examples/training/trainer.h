// Trains any program that is a training step, on a simulated mesh.
//
// The step takes the state, a seed and inputs, and returns the state after the step and metrics. It is
// partitioned once; the state stays on the mesh between steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "examples/training/checkpoint.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "nlohmann/json.hpp"
#include "runtime/mesh/mesh_value.h"
#include "runtime/partitioned/mesh_program.h"

namespace toroid {

struct TrainedArray {
  std::string name;
  Shape shape;
  // A new array is drawn from this normal distribution; if stddev is 0, all elements are `mean`.
  double mean = 0, stddev = 0;
};

struct TrainingProgram {
  nlohmann::json configuration;  // An object that identifies the model; kept in checkpoints.
  // Parameters: the state, u32[] seed, inputs. Result: a tuple of the state after the step and the metrics.
  std::unique_ptr<Module> step;
  std::vector<TrainedArray> state;
  std::vector<std::string> metrics;
  // May be null. Parameters: the state arrays with the numbers `evaluation_state`, then inputs. Result: a
  // tuple of `evaluation_metrics`.
  std::unique_ptr<Module> evaluation;
  std::vector<int> evaluation_state;
  std::vector<std::string> evaluation_metrics;
};

struct TrainerOptions {
  int64_t devices = 1;
  uint64_t seed = 1;
  int threads = 0;  // 0: one per processor.
};

// Values of a step's metrics, by name.
struct Metrics {
  std::vector<std::string> names;
  std::vector<Literal> values;

  // Null if no metric has this name.
  const Literal* Find(absl::string_view name) const;
};

class Trainer {
 public:
  // Errors: kInvalidArgument if the modules are not as TrainingProgram says; those of PartitionModule and
  // MeshProgram::Create.
  static absl::StatusOr<std::unique_ptr<Trainer>> Create(TrainingProgram program,
                                                         const TrainerOptions& options);

  // Sets new arrays, drawn from the seed and their names; step 0.
  absl::Status Start();
  // Sets the arrays and the step of a checkpoint that LoadCheckpoint(.., configuration(), arrays()) returned.
  absl::Status Restore(const Checkpoint& checkpoint);
  // Errors: those of Executor::Run.
  absl::StatusOr<Checkpoint> Save() const;

  // Runs the next step with these inputs. Errors: kInvalidArgument for other shapes; those of Executor::Run,
  // after which there is no state until Start or Restore.
  absl::StatusOr<Metrics> Step(absl::Span<const Literal> inputs);
  absl::StatusOr<Metrics> Evaluate(absl::Span<const Literal> inputs);

  int64_t steps_done() const { return steps_done_; }
  const TrainingProgram& program() const { return program_; }
  // u32[]: the seed of step `step`; the first step is 0.
  Literal SeedOfStep(int64_t step) const;
  bool can_evaluate() const { return evaluation_ != nullptr; }
  const nlohmann::json& configuration() const { return program_.configuration; }
  // The arrays of a checkpoint: the state, and the number of steps done.
  std::vector<NamedShape> arrays() const;

 private:
  Trainer(TrainingProgram program, const TrainerOptions& options)
      : program_(std::move(program)), options_(options) {}

  absl::Status Check() const;
  absl::Status CheckState() const;
  RunOptions MakeRunOptions() const;

  TrainingProgram program_;
  const TrainerOptions options_;
  std::unique_ptr<Module> partitioned_step_, partitioned_evaluation_;
  std::unique_ptr<MeshProgram> step_, evaluation_;
  std::vector<MeshValue> state_;
  int64_t steps_done_ = 0;
};

// A new array. Errors: kInvalidArgument for element types that cannot be drawn.
absl::StatusOr<Literal> FreshArray(const TrainedArray& array, uint64_t seed);

}  // namespace toroid
