// An explanation as a table: `hlo-partition --explain`.
//
//   collective          count  group   operands       sent  needed by
//   all-to-all             36   2048   603.9 MB   603.7 MB  transpose.*: [{"e"}, {}] -> [{}, {"e"}] (m.py:79)
//   all-reduce   1 x 12 trips      2    49.2 kB    49.2 kB  dot.7 of params['w']: ...
//
// Predicted times of a machine add columns for time and share of the step. If lines would be longer than `width`, the cause of
// each collective goes to one or two lines below its numbers. Long names are shortened in their middle before shardings are. Of
// merged rows at most 25 lines are printed, the last one with the sums of all smaller rows.
#pragma once

#include <cstdint>
#include <string>

#include "explain/explanation.h"
#include "hlo/cost/predicted_times.h"

namespace toroid {

// `times`: those that the explanation was made with, or null. `width`: columns of a line.
std::string ExplainTable(const Explanation& explanation, const PredictedTimes* times = nullptr,
                         int width = 120);

// A note in at most `width` columns, without a line's end.
std::string NoteLine(const ExplainedNote& note, int width);

// The line "predicted on tpu-v3-128: 169 ms a step, 23.1 % of it in collectives".
std::string PredictionLine(const PredictedTimes& times);

// "one program for 8 devices: 24 collectives send 12.3 MB per device".
std::string SummaryLine(const Explanation& explanation, int64_t num_partitions);

}  // namespace toroid
