// Times of the steps of a run, for a profile.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/stopwatch.h"
#include "runtime/plan/plan.h"

namespace toroid {

class StepTimer {
 public:
  struct Times {
    int64_t calls = 0;
    int64_t rows = 0;  // Devices that the calls computed for, together; 1 for a result equal on all of them.
    double seconds = 0;      // Computations that the step calls included.
    double own_seconds = 0;  // Without them.
  };
  // One execution of a step, in seconds since the timer began.
  struct Event {
    const Step* step;
    double begin, end;
  };
  // Most events that are kept, the first ones of a run; times are of all.
  static constexpr size_t kMostEvents = 200'000;

  void Begin() { open_.push_back({stopwatch_.Seconds(), 0}); }
  // Ends the step that began last.
  void End(const Step& step, int64_t rows);

  const absl::flat_hash_map<const Step*, Times>& times() const { return times_; }
  const std::vector<Event>& events() const { return events_; }
  double Seconds() const { return stopwatch_.Seconds(); }

 private:
  struct Open {
    double begin, inside;  // Seconds of the steps inside.
  };
  const Stopwatch stopwatch_;
  std::vector<Open> open_;
  absl::flat_hash_map<const Step*, Times> times_;
  std::vector<Event> events_;
};

}  // namespace toroid
