// The collectives of a partitioned program as a table for people: `hlo-partition --explain`.
//
//   collective          count  group   operands       sent  needed by
//   all-to-all             36   2048   603.9 MB   603.7 MB  transpose.*: [{"e"}, {}] -> [{}, {"e"}] (model.py:79)
//   all-reduce   1 x 12 trips      2    49.2 kB    49.2 kB  dot.7 of params['w']: ...
//
// Most bytes first; with times of a machine, which add columns for time and share of the step, most time first. Rows that differ only by the numbers in their names (layers.0/mlp, layers.1/mlp; fusion.12,
// fusion.31) are one row with their count. What stands in a loop says how often it runs, and bytes are those of
// all trips; a loop of unknown length counts once. Where lines would be longer than `width`, what needs a collective
// stands on a line or two of its own. Long names lose their middle before shardings do.
#ifndef TOROID_PARTITIONER_REPORT_EXPLAIN_TABLE_H_
#define TOROID_PARTITIONER_REPORT_EXPLAIN_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/cost/predicted_times.h"
#include "partitioner/provenance/replication_log.h"
#include "partitioner/report/statistics.h"

namespace toroid {

struct ExplainOptions {
  bool full = false;  // Every collective has a row, with the name of its instruction.
  int width = 120;
  const PredictedTimes* times = nullptr;  // Of the program; null: none.
};

std::string ExplainTable(absl::Span<const CollectiveRecord> collectives,
                         absl::Span<const FullReplication> replications, const ExplainOptions& options);

// "predicted on tpu-v3-128: 169 ms a step, 23.1 % of it in collectives", a line.
std::string PredictionLine(const PredictedTimes& times);

// "one program for 8 devices: 24 collectives send 12.3 MB per device".
std::string SummaryLine(absl::Span<const CollectiveRecord> collectives, int64_t num_partitions);

// One name for names that are alike but for their numbers. A number that differs becomes a range where every
// value of it occurs, * otherwise: layers.0/dot.3, layers.1/dot.9 are "layers.0..1/dot.*".
std::string NameOfAll(const std::vector<std::string>& names);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REPORT_EXPLAIN_TABLE_H_
