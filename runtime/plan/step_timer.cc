#include "runtime/plan/step_timer.h"

namespace toroid {

void StepTimer::End(const Step& step, int64_t rows) {
  const double end = stopwatch_.Seconds();
  const Open open = open_.back();
  open_.pop_back();
  const double seconds = end - open.begin;
  if (!open_.empty()) open_.back().inside += seconds;
  Times& times = times_[&step];
  ++times.calls;
  times.rows += rows;
  times.seconds += seconds;
  times.own_seconds += seconds - open.inside;
  if (events_.size() < kMostEvents) events_.push_back({&step, open.begin, end});
}

}  // namespace toroid
