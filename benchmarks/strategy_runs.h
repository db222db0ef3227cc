// One program, partitioned with all strategies of the search, with all but one, and with one alone.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Strategies() and "forms", in the order in which they run.
std::vector<std::string> StrategyNames();

// A partitioned program, per device and whole run: every op counts with the trips of the loops it is in.
struct ProgramCost {
  double sent_bytes = 0;
  double flops = 0;          // Of contractions.
  double written_bytes = 0;  // The sizes of the results of ops.
  double seconds = 0;        // Predicted: see PredictedSeconds.
  std::string plan;          // As text.
  double made_in = 0;        // Seconds of a processor that partitioning took.
};

struct StrategyRuns {
  std::string program;
  ProgramCost first;                        // Without strategies: the first plan.
  ProgramCost all;                          // All strategies.
  std::vector<ProgramCost> without, alone;  // By strategy: all but it; it and no other.
};

// Errors: those of PartitionModule; kInvalidArgument for a program of one device.
absl::StatusOr<StrategyRuns> RunStrategies(const std::string& program, const Module& module);

// The time of a partitioned program by the default cost model: each op after the other, each as long as the slowest of its
// arithmetic and its memory traffic, a collective as long as its bytes take on a link. Nothing is fused or overlapped, so only
// times of the same program are compared.
double PredictedSeconds(const Module& module);

}  // namespace toroid
