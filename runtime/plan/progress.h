// Progress of a run, shown at a terminal: one line on standard error, overwritten in place, once a run takes
// longer than two seconds.
//
//   reference run: 35 %, about 22 s left
//
// The percentage is the share of the estimated work: floating-point operations and bytes of every
// instruction, times the loop's trips where its condition states them.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "hlo/base/stopwatch.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// "WHAT: 35 %, about 22 s left" after `seconds` with `share` of the work done (0 to 1). Without the time left
// while the share is at most 0.005.
std::string ProgressText(absl::string_view what, double share, double seconds);

// Estimated work of an instruction on one device, called computations not counted: units of about a
// nanosecond.
double EstimatedWork(const Instruction& instruction);

// Estimated trips of a loop: the constant its condition compares with; 8 if there is none.
double EstimatedTrips(const Instruction& loop);

class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // Clears the line.

  // `share` of the work is done; instructions of another `work` begin. Cheap: reads the clock once per 1e6
  // units of work.
  void Update(double share, double work) {
    work_ += work;
    if (work_ < kWorkBetweenLooks) return;
    work_ = 0;
    Look(share);
  }

 private:
  static constexpr double kWorkBetweenLooks = 1e6;

  void Look(double share);

  const std::string what_;
  const Stopwatch stopwatch_;
  double work_ = 0, written_at_ = 0;
  bool written_ = false;
};

}  // namespace toroid
