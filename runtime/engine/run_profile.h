// Where the time of a run goes, by step and line of source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/step_timer.h"

namespace toroid {

struct RunProfile {
  struct Row {
    std::string kind, name, line;  // "group of 9", "add.7 .. divide.15", "model.py:12" ("" if unknown).
    int64_t calls = 0;
    double seconds = 0;           // Without the computations it calls.
    double bytes = 0, flops = 0;  // Of all calls and devices; an array equal on all devices counts once.
  };
  struct Event {
    int row;
    double begin, end;  // Seconds.
  };
  std::vector<Row> rows;  // The longest first.
  std::vector<Event> events;
  double seconds = 0;
  int threads = 1;
};

// What this machine reaches with some threads: bytes per second of a copy of large arrays, read and written, and flops per
// second of products of f32 matrices.
struct MachineRates {
  double bytes = 0, flops = 0;
};

RunProfile ProfileOf(const StepTimer& timer, int threads);

// Measures for about a tenth of a second, on the threads of the caller's pool.
MachineRates MeasureRates();

// A table of the longest rows, at most `width` columns.
std::string ProfileText(const RunProfile& profile, const MachineRates& rates, int width);

// The events as JSON that ui.perfetto.dev and chrome://tracing open.
std::string TraceJson(const RunProfile& profile);

}  // namespace toroid
