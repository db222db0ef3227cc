// The collectives of a partitioned program as a table: `hlo-partition --explain`.
//
//   collective          count  group   operands       sent  needed by
//   all-to-all             36   2048   603.9 MB   603.7 MB  transpose.*: [{"e"}, {}] -> [{}, {"e"}] (m.py:79)
//   all-reduce   1 x 12 trips      2    49.2 kB    49.2 kB  dot.7 of params['w']: ...
//
// Rows are sorted by bytes sent, most first. Predicted times of a machine add columns for time and share of
// the step; rows are then sorted by time. Rows that differ only by the numbers in their names (layers.0/mlp,
// layers.1/mlp; fusion.12, fusion.31) become one row with their count. The row of a collective in a loop
// states the number of trips, and the bytes of all trips; a loop of unknown length counts once. If lines
// would be longer than `width`, the cause of each collective goes to one or two lines below its numbers. Long
// names are shortened in their middle before shardings are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partitioner/provenance/cut_note.h"
#include "partitioner/report/statistics.h"

namespace toroid {

struct ExplainOptions {
  bool full = false;  // Every collective has a row of its own, with the name of its instruction.
  int width = 120;    // Columns of a line.
  const PredictedTimes* times = nullptr;  // Predicted for the program; null: no columns of times.
  absl::Span<const CutNote> cuts;         // Lines after the table: uneven cuts, and cuts that were not made.
};

std::string ExplainTable(absl::Span<const CollectiveRecord> collectives,
                         absl::Span<const FullReplication> replications, const ExplainOptions& options);

// The line "predicted on tpu-v3-128: 169 ms a step, 23.1 % of it in collectives".
std::string PredictionLine(const PredictedTimes& times);

// "one program for 8 devices: 24 collectives send 12.3 MB per device".
std::string SummaryLine(absl::Span<const CollectiveRecord> collectives, int64_t num_partitions);

// One name for names that differ only by their numbers. A number that differs becomes a range if every value
// of the range occurs, otherwise *. Example: layers.0/dot.3, layers.1/dot.9 are "layers.0..1/dot.*".
std::string NameOfAll(const std::vector<std::string>& names);

}  // namespace toroid
