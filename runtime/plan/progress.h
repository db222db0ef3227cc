// How far a run is, for those who wait at a terminal: a line on standard error that is written over, once a
// run takes longer than two seconds.
//
//   reference run: 35 %, about 22 s left
//
// The share of the work is that of its estimate: floating-point operations and bytes of every instruction,
// loops times their trips where the condition tells them.
#ifndef TOROID_RUNTIME_PLAN_PROGRESS_H_
#define TOROID_RUNTIME_PLAN_PROGRESS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "hlo/base/stopwatch.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// "WHAT: 35 %, about 22 s left" after `seconds` with `share` of the work done (0 to 1); without the estimate
// where nothing is done yet.
std::string ProgressText(absl::string_view what, double share, double seconds);

// Estimated work of an instruction on one device, called computations not counted: units of about a
// nanosecond.
double EstimatedWork(const Instruction& instruction);

// Estimated trips of a loop: what its counter is compared with, if that is a constant; else 8.
double EstimatedTrips(const Instruction& loop);

class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // Clears the line.

  // The instructions from `share` on are next, after another `work`. Cheap: looks at the clock now and then.
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

#endif  // TOROID_RUNTIME_PLAN_PROGRESS_H_
