// What-if: predictions over the values of some parameters, as one table and one plot.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "simulator/prediction/prediction.h"

namespace toroid {

struct SweepAxis {
  std::string name;
  std::vector<std::string> values;
};

// "NAME=A,B,C"; values that contain commas are separated by "|", as are those of mesh and shard:
// "shard=w={devices=[8,1]<=[8]}|w={replicated}".
// Errors: kInvalidArgument without a name or a value.
absl::StatusOr<SweepAxis> ParseSweepAxis(absl::string_view text);

struct Sweep {
  struct Point {
    std::vector<std::string> values;  // One for each axis.
    Prediction prediction;            // Without rows and timeline.
  };
  std::vector<SweepAxis> axes;
  std::vector<Point> points;
};

// Every combination of values, the last axis fastest.
// Errors: kInvalidArgument for a name twice, for more than 10,000 combinations; those of `predict`, after the values.
using PredictPoint = std::function<absl::StatusOr<Prediction>(const std::vector<std::string>& values)>;
absl::StatusOr<Sweep> RunSweep(std::vector<SweepAxis> axes, const PredictPoint& predict);

// A column for each axis, then machine, devices, seconds and bytes; a row for each point (RFC 4180).
std::string SweepCsv(const Sweep& sweep);

// One HTML file with D3 inside: step time over the first axis, a line for each combination of the others, and the
// breakdown of each point.
std::string SweepPage(const Sweep& sweep);

}  // namespace toroid
