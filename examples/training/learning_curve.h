// The measurements of a training run: numbers by step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "examples/training/checkpoint.h"

namespace toroid {

class LearningCurve {
 public:
  struct Point {
    int64_t step;
    double value;
  };
  struct Series {
    std::string name;
    std::vector<Point> points;  // Ascending by step.
  };

  // A second value for the same step replaces the first. Requires: no series has a point at a later step.
  void Add(absl::string_view name, int64_t step, double value);

  const std::vector<Series>& series() const { return series_; }
  // Null if no series has this name.
  const Series* Find(absl::string_view name) const;

  // One row per step, one column per series; empty where a series has no value. Nine digits.
  std::string ToTsv() const;

  // Stores the curve as arrays "curve.NAME", f64[points,2], of a checkpoint, and reads it back.
  static constexpr absl::string_view kPrefix = "curve.";
  void AddTo(Checkpoint* checkpoint) const;
  // Errors: kInvalidArgument for arrays of another form.
  static absl::StatusOr<LearningCurve> FromCheckpoint(const Checkpoint& checkpoint);

 private:
  std::vector<Series> series_;
};

// Replaces each value by the mean of it and of up to `window` - 1 values before it.
LearningCurve::Series Smoothed(const LearningCurve::Series& series, int64_t window);

}  // namespace toroid
