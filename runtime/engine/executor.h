// Runs modules with real values on a simulated mesh, in lockstep.
//
// All devices run one program, so each instruction is executed once for all of them (op_call.h). A value
// known to be the same everywhere is stored and computed once; memory is freed or reused at the last use of a
// value. Results do not depend on the number of threads.
#ifndef TOROID_RUNTIME_ENGINE_EXECUTOR_H_
#define TOROID_RUNTIME_ENGINE_EXECUTOR_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/engine/plan_builder.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/infeed.h"
#include "runtime/mesh/mesh_value.h"

namespace toroid {

class Transport;

struct RunOptions {
  // Device r * num_partitions + p runs replica r, partition p.
  int64_t num_replicas = 1;
  int64_t num_partitions = 1;
  // Most bytes of values alive at a time, over all devices; 0: DefaultMaxBytes(). A run that cannot do with
  // less is refused before it starts.
  int64_t max_bytes = 0;
  // Of these, what the caller holds beside the run.
  int64_t held_bytes = 0;
  // Most instructions executed, those of loops each time around; 0: no limit.
  int64_t max_steps = 0;
  // What infeed ops take, in order, and where outfeeds go; see collectives/host_transfer.h.
  std::shared_ptr<const Infeed> infeed;
  Outfeed* outfeed = nullptr;
  // Where to tell how far the run is.
  Progress* progress = nullptr;
  // Threads of the kernels; 0: those that the caller has (ScopedThreads), else those of the machine.
  int threads = 0;
  // What connects the ranks that share the devices, of which each has Transport::ShareOf(rank): the arguments and the
  // result are the rows of these alone. All ranks run the same module with the same options, but for max_bytes, which
  // each has for itself; rank 0 has the infeed, and gets what outfeeds give. Null: all devices are here.
  Transport* transport = nullptr;

  int64_t num_devices() const { return num_replicas * num_partitions; }
};

// A module made ready to run, any number of times. Not thread-safe. The module must outlive it, unchanged.
class Executor {
 public:
  // Errors: kInvalidArgument "computation/instruction: ..." for unknown opcodes and bad constants.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(const Module& module);

  // One argument per entry parameter, consumed: memory of those that nobody else holds is reused.
  // Errors: kInvalidArgument for arguments that are not the parameters' shapes; "computation/instruction:
  // ..." for what fails while running (kUnimplemented, kResourceExhausted, kInvalidArgument for divergence at
  // a collective).
  absl::StatusOr<MeshValue> Run(std::vector<MeshValue> arguments, const RunOptions& options);

  // Refuses a run that cannot do with the memory it may take, as Run does, before its arguments are made:
  // of each it matters only whether all devices hold the same.
  // Errors: kResourceExhausted.
  absl::Status CheckMemory(const std::vector<bool>& uniform_arguments, const RunOptions& options) const {
    return CheckMemory(uniform_arguments, options, MaxBytes(options));
  }

 private:
  Executor(std::unique_ptr<Module> made, const Module& module)
      : made_(std::move(made)), module_(made_ != nullptr ? *made_ : module) {}

  absl::Status CheckMemory(const std::vector<bool>& uniform_arguments, const RunOptions& options,
                           int64_t max_bytes) const;
  // Of a run. What the machine has is read at most once a second: short runs would do little else.
  int64_t MaxBytes(const RunOptions& options) const;

  const std::unique_ptr<Module>
      made_;  // The module without mixed precision; null if that is the module given.
  const Module& module_;
  std::unique_ptr<ThreadPool> threads_;
  PlanBuilder builder_;
  Plan* entry_ = nullptr;
  mutable int64_t default_max_bytes_ = 0;
  mutable std::chrono::steady_clock::time_point default_read_;
};

// Runs a module once.
absl::StatusOr<MeshValue> RunModule(const Module& module, std::vector<MeshValue> arguments,
                                    const RunOptions& options);

// Runs a module on devices that all get these arguments, on one unless `options` say otherwise; the result is
// that of the first.
absl::StatusOr<Literal> RunSingle(const Module& module, absl::Span<const Literal> arguments,
                                  const RunOptions& options = {});

// Runs the program of one partition on all partitions.
absl::StatusOr<MeshValue> RunOnMesh(const Module& module, std::vector<MeshValue> arguments,
                                    int64_t num_partitions);

}  // namespace toroid

#endif  // TOROID_RUNTIME_ENGINE_EXECUTOR_H_
