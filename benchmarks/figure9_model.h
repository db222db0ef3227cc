// GShard's figure 9 beside the simulator: times of all-to-all and all-reduce on TPU v3 slices of 16 to 2,048
// cores.
//
// Four values of the machine are fitted to the figure: collective_cost, step_cost, injection rate and local
// pass. Leaving sizes out shows how far the fits can be trusted: they are fitted to four of the eight sizes
// and tested on the other four, for all 70 choices. A fit minimizes
//   sum over points of (ours / paper - 1)^2 + 0.1 * sum over parameters of (value / expected - 1)^2
// by Levenberg-Marquardt. The expectations are prior knowledge: 20 us, and 1 us per step (the order of what
// small transfers take); a third of the memory rate (150 GB/s); half of one pass over the payload in memory
// (1 us per MiB).
// Source of the points: GShard, arXiv:2006.16668, figure 9, read from its vector graphics; MB are MiB per
// core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/analysis/collective.h"
#include "hlo/base/units.h"

namespace toroid {

struct Figure9Point {
  int64_t cores = 0;
  CollectiveKind kind = CollectiveKind::kAllToAll;
  Bytes bytes = 0;  // Per core.
  double paper_microseconds = 0;
  double our_microseconds = 0;
  std::string algorithm;

  double error() const { return our_microseconds / paper_microseconds - 1; }
};

// Simulates the points with the built-in machines.
absl::StatusOr<std::vector<Figure9Point>> SimulateFigure9();

struct MeanAndWorst {
  double mean = 0, worst = 0;  // Absolute relative errors.
};
MeanAndWorst Summarize(const std::vector<double>& errors);

// One choice of four sizes.
struct LeftOut {
  std::vector<int64_t> fitted_cores;
  double collective_cost_seconds, step_cost_seconds, injection_bytes_per_second, local_pass_seconds_per_byte;
  MeanAndWorst fitted, left_out;
};
absl::StatusOr<std::vector<LeftOut>> LeaveOutFigure9();

}  // namespace toroid
