// What was measured during a training run: numbers by step.
#ifndef TOROID_EXAMPLES_TRAINING_LEARNING_CURVE_H_
#define TOROID_EXAMPLES_TRAINING_LEARNING_CURVE_H_

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

  // A later value for the same step replaces the earlier one. Requires: no series has a point at a later step.
  void Add(absl::string_view name, int64_t step, double value);

  const std::vector<Series>& series() const { return series_; }
  // Null if there is none of this name.
  const Series* Find(absl::string_view name) const;

  // A row for each step, a column for each series; empty where it has no value. Nine digits.
  std::string ToTsv() const;

  // As arrays "curve.NAME", f64[points,2], of a checkpoint, and back.
  static constexpr absl::string_view kPrefix = "curve.";
  void AddTo(Checkpoint* checkpoint) const;
  // Errors: kInvalidArgument for arrays of another form.
  static absl::StatusOr<LearningCurve> FromCheckpoint(const Checkpoint& checkpoint);

 private:
  std::vector<Series> series_;
};

// Each value the mean of those of its step and up to `window` - 1 steps before.
LearningCurve::Series Smoothed(const LearningCurve::Series& series, int64_t window);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_TRAINING_LEARNING_CURVE_H_
