// Runs a module and its variants on the same arguments, feeds and memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/engine/executor.h"

namespace toroid {

// Refuses a run, with arguments of the global shapes `arguments`, that cannot do with `max_bytes`, before anything
// is made for it. Errors: kResourceExhausted.
absl::Status CheckRunMemory(const Module& module, absl::Span<const Shape> arguments, int64_t num_replicas,
                            int64_t max_bytes, Transport* transport = nullptr);

// One run of a program.
struct ProgramRun {
  Literal result;
  double seconds = 0;
  std::vector<std::string> device_rounding;  // Where devices differ by rounding, a line for each output.
  int64_t rounding_ops = 0;                  // Without rounding: those that round all the same (promote.h).
  RunProfile profile;                        // If asked for.
  bool jumps = false;                        // Without rounding: some op jumps (promote.h).
};

class ProgramRunner {
 public:
  struct Options {
    int64_t num_replicas = 1;
    int64_t max_bytes = 0;
    // Devices that hold the same part of a result must agree, but for rounding within the tolerances: for
    // each array leaf, or one for all (shard_literal.h).
    bool check_replicas = false;
    std::vector<double> tolerances;
    bool show_progress = false;  // On standard error (progress.h).
    bool profile = false;        // Take the times of steps.
    // Connects rank 0, which this is, to the others (ranks_run.h); null: all devices are here. Modules of one device
    // run here in any case.
    Transport* transport = nullptr;
  };

  // `arguments` must outlive the runner.
  ProgramRunner(const std::vector<Literal>& arguments, std::shared_ptr<const Infeed> infeed, Options options);

  // Runs a module on one device, or the program of a partition on all devices. In the second case the shards of
  // the result are assembled to the global shape `result` (null: the shape that the shards add up to). `what`
  // names the run where progress is shown.
  absl::StatusOr<ProgramRun> Run(const Module& module, const Shape* result, absl::string_view what);
  // The same without rounding (promote.h). Devices that hold the same part must agree within kProofTolerance.
  absl::StatusOr<ProgramRun> RunPromoted(const Module& module, const Shape* result, absl::string_view what);

  // The data that the outfeeds of the last run wrote.
  const Outfeed& outfeed() const { return outfeed_; }

 private:
  absl::StatusOr<ProgramRun> Run(const Module& module, const std::vector<Literal>& arguments,
                                 absl::Span<const double> tolerances, const Shape* result,
                                 absl::string_view what);

  const std::vector<Literal>& arguments_;
  const Options options_;
  RunOptions run_;
  Outfeed outfeed_;
};

}  // namespace toroid
