// Runs modules with real values on a simulated mesh, in lockstep.
//
// All devices run one program, so each instruction is executed once for all of them (op_call.h). A value
// known to be equal on all devices is stored and computed once; memory is freed or reused at the last use of
// a value. Results do not depend on the number of threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/engine/peak_estimate.h"
#include "runtime/engine/plan_builder.h"
#include "runtime/engine/run_profile.h"
#include "runtime/loops/thread_pool.h"
#include "runtime/mesh/infeed.h"
#include "runtime/mesh/mesh_value.h"

namespace toroid {

class Transport;

struct RunOptions {
  // Device r * num_partitions + p runs replica r, partition p.
  int64_t num_replicas = 1;
  int64_t num_partitions = 1;
  // Most bytes of live values, over all devices; 0: DefaultMaxBytes(). A run that needs more is refused
  // before it starts.
  int64_t max_bytes = 0;
  // Bytes within max_bytes that the caller holds during the run.
  int64_t held_bytes = 0;
  // Most instructions executed; a loop counts its body once per trip. 0: no limit.
  int64_t max_steps = 0;
  // Values for infeed ops, in order, and the receiver of outfeed values; see collectives/host_transfer.h.
  std::shared_ptr<const Infeed> infeed;
  Outfeed* outfeed = nullptr;
  // Receiver of progress.
  Progress* progress = nullptr;
  // Receiver of the times of the steps.
  RunProfile* profile = nullptr;
  // Threads of the kernels; 0: the caller's (ScopedThreads), else one per processor.
  int threads = 0;
  // Connects the ranks that share the devices; each rank has the devices Transport::ShareOf(rank), and its
  // arguments and result are the rows of these devices alone. All ranks run the same module with the same
  // options, except for max_bytes, which is per rank; rank 0 has the infeed and gets the outfeed values.
  // Null: all devices are here.
  Transport* transport = nullptr;

  int64_t num_devices() const { return num_replicas * num_partitions; }
};

// A module made ready to run, any number of times. Not thread-safe. The module must outlive it, unchanged.
class Executor {
 public:
  // Errors: kInvalidArgument "computation/instruction: ..." for unknown opcodes and bad constants.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(const Module& module, PlanOptions options = {});

  // One argument per entry parameter, consumed: memory that no other handle shares is reused.
  // Errors: kInvalidArgument for an argument that does not have its parameter's shape;
  // "computation/instruction: ..." for errors while running (kUnimplemented, kResourceExhausted,
  // kInvalidArgument for devices that diverge at a collective).
  absl::StatusOr<MeshValue> Run(std::vector<MeshValue> arguments, const RunOptions& options);

  // The plan as text (plan_text.h).
  std::string PlanText() const;

  // Refuses, as Run does, a run that needs more memory than it may take. Needs no arguments, only whether
  // each of them is equal on all devices.
  // Errors: kResourceExhausted.
  absl::Status CheckMemory(const std::vector<bool>& uniform_arguments, const RunOptions& options) const {
    return CheckMemory(uniform_arguments, options, MaxBytes(options));
  }

 private:
  Executor(std::unique_ptr<Module> made, const Module& module, PlanOptions options)
      : made_(std::move(made)), module_(made_ != nullptr ? *made_ : module), builder_(options) {}

  absl::Status CheckMemory(const std::vector<bool>& uniform_arguments, const RunOptions& options,
                           int64_t max_bytes) const;
  // The memory limit of a run. The free memory of the machine is read at most once a second: reading it takes
  // longer than a short run.
  int64_t MaxBytes(const RunOptions& options) const;
  const PeakEstimate& Peak(const std::vector<bool>& uniform_arguments, int64_t copies) const;

  // The module rewritten without mixed precision; null if the given module has none.
  const std::unique_ptr<Module> made_;
  const Module& module_;
  std::unique_ptr<ThreadPool> threads_;
  PlanBuilder builder_;
  Plan* entry_ = nullptr;
  // By which arguments are uniform, rows and threads.
  mutable std::map<std::tuple<std::vector<bool>, int64_t, int>, PeakEstimate> peaks_;
  mutable int64_t default_max_bytes_ = 0;
  mutable std::chrono::steady_clock::time_point default_read_;
};

// Runs a module once.
absl::StatusOr<MeshValue> RunModule(const Module& module, std::vector<MeshValue> arguments,
                                    const RunOptions& options);

// Runs a module on devices that all get these arguments, one device unless `options` say otherwise; the
// result is that of the first device.
absl::StatusOr<Literal> RunSingle(const Module& module, absl::Span<const Literal> arguments,
                                  const RunOptions& options = {});

// Runs the program of one partition on all partitions.
absl::StatusOr<MeshValue> RunOnMesh(const Module& module, std::vector<MeshValue> arguments,
                                    int64_t num_partitions);

}  // namespace toroid
