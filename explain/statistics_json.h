// The JSON of `hlo-partition --stats`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/cost/predicted_times.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"
#include "partitioner/provenance/replication_log.h"

namespace toroid {

struct PhaseSeconds {
  double read = 0;
  double propagate = 0;
  double partition = 0;
  double optimize = 0;
  double write = 0;
  double total = 0;
  std::vector<PassReport> passes;  // In order.
};

// One line, whose keys are documented in docs/commands.md and stable. `module`: the program
// of one partition. `instructions_before`: the number of instructions of the global program.
std::string StatisticsJson(const Module& module, int64_t num_partitions, int64_t instructions_before,
                           absl::Span<const FullReplication> replications, const PhaseSeconds& seconds,
                           const PredictedTimes* predicted = nullptr);

}  // namespace toroid
