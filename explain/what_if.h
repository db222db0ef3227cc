// `hlo-partition --what-if NAME=SHARDING`: the program as it is beside the program that has one sharding more, or another one.
//
//   what if params['w_up']=[{}, {"model"}]
//                         now       then
//   sent              71.7 kB    16.4 kB  -77.1 %
//   collectives             3          1
//   flops             1.049e6    1.049e6   +0.0 %
//   peak memory      131.1 kB   155.6 kB  +18.7 %
//   gone: all-gather 28.7 kB  h of x: [{}, {"model"}] -> [{}, {}]
//   new:  all-reduce 16.4 kB  y: partial over {"model"} -> [{}, {}]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "explain/explanation.h"
#include "hlo/cost/predicted_times.h"
#include "hlo/ir/module.h"

namespace toroid {

// What a program of one device takes.
struct ProgramFigures {
  Explanation explanation;
  double flops = 0;        // Of a whole run.
  int64_t peak_bytes = 0;  // After a compiler has fused and ordered it.
  double seconds = 0;      // Predicted for a step; 0 without a machine.
};

// `times`: of the program on a machine; null: no prediction.
ProgramFigures FiguresOf(const Module& partitioned, const PredictedTimes* times = nullptr);

// The figures of two programs side by side, with the change in percent; without rows of collectives.
std::string FiguresTable(const ProgramFigures& now, const ProgramFigures& then,
                         const std::string& head_of_now, const std::string& head_of_then);

struct WhatIf {
  ProgramFigures now, then;
  std::vector<ExplainedRow> gone, added;  // Rows that one program has and the other lacks, most bytes first.
};

WhatIf CompareFigures(ProgramFigures now, ProgramFigures then);

// The lines above. `question`: NAME=SHARDING. `width`: columns of a line.
std::string WhatIfText(const WhatIf& comparison, absl::string_view question, int width);

}  // namespace toroid
