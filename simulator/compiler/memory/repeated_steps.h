// Which steps of a program run again so that what is alive fits, and where: on a program reduced to steps and the values they
// make and read.
//
// Goes through the steps in their order. While too much is alive at a step: of the values that nobody reads there, the one that
// frees most is dropped, with all that its step makes, and that step runs again in front of the next reader of the value. What
// must stay alive longer for this counts against it. If no reader of the step has run yet, the step moves instead of running
// twice; moves come first, and each step moves at most once more. A step that runs again may be dropped again.
// Source: XLA's hlo_rematerialization.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace toroid {

struct StepValue {
  int maker = -1;               // A step; -1: there from the beginning, takes no memory.
  int64_t bytes = 0;            // 0: stays, and is not counted.
  bool is_overwritten = false;  // After its last reader it is overwritten: nothing may read it later.
  std::vector<int> readers;     // Steps, each once.
  int origin = -1;              // The value of which this one is a repetition; itself, if it is none.
};

struct Step {
  std::vector<int> makes, reads;  // Values; those that it reads each once.
  bool may_repeat = false;
  int repeats = -1;  // The first step that this one repeats; -1: none.
};

struct StepProgram {
  std::vector<Step> steps;
  std::vector<StepValue> values;
};

// The new order of steps, numbers of `program`, to which repetitions are added: so many that no more than `most_bytes` are
// alive, or as far as it goes. Steps whose values nobody reads any more, for they only moved, are left out. Values of fewer
// than `least_bytes` per step are not worth it. Empty: nothing runs again.
std::vector<int> RepeatSteps(int64_t most_bytes, int64_t least_bytes, StepProgram* program);

// Most bytes alive at a step of the program in that order (empty: its own), what it makes and what it reads included.
int64_t MostAlive(const StepProgram& program, absl::Span<const int> order = {});

}  // namespace toroid
