// What a partitioned program sends and why, as data: the rows and notes of `hlo-partition --explain`, which the table, the JSON
// and pages are made of.
//
// Every collective is a row. Rows that differ only by the numbers in their names (layers.0/mlp, layers.1/mlp; fusion.12,
// fusion.31) become one row with their count, unless all are wanted. A collective in a loop counts with all trips; in a loop of
// unknown length it counts once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "explain/diagnosis.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/cost/predicted_times.h"
#include "partitioner/provenance/cut_note.h"
#include "partitioner/provenance/replication_log.h"

namespace toroid {

struct ExplainedRow {
  std::string opcode;
  int64_t group = 1;  // Devices in a group; 0 if unknown.
  Executions executions;
  int64_t count = 0, operand_bytes = 0, sent_bytes = 0;  // Bytes per device, of all executions.
  double seconds = 0;                                    // Predicted, of all executions.
  double hidden_seconds =
      0;  // Of these, those in which other ops compute if they may (PredictedTimes::hidden).
  std::vector<std::string> names;  // The names of the collectives merged into this row.
  std::vector<int> records;        // Their places in ExplainedProgram::collectives.
  // What needs it, one name for all `names`; the resharding, such as "[{"e"}, {}] -> [{}, {"e"}]"; and the author's source
  // line.
  std::string name, step, source;
};

// A line about an array: "replicated: w.3 4.1 kB, gathered (model.py:7)".
struct ExplainedNote {
  std::string kind, detail, reason, source;
  std::vector<std::string> names;  // Of all arrays of which this is true.
  std::string name;                // One name for them.
};

struct Explanation {
  std::vector<ExplainedRow> rows;    // Most seconds first, then most bytes.
  std::vector<ExplainedNote> notes;  // Arrays that are replicated, cut unevenly, or not cut though asked for.
  int64_t sent_bytes = 0;            // Per device, in one run.
  bool all_trips_known = true, all_groups_known = true;
  bool is_merged = true;                // Rows that differ only by numbers in names are one.
  int64_t collectives = 0, arrays = 0;  // A merged collective has several arrays.
  Diagnosis diagnosis;                  // Filled by whoever tries changes.
};

struct ExplainedProgram {
  absl::Span<const CollectiveRecord> collectives;
  absl::Span<const FullReplication> replications;
  absl::Span<const CutNote> cuts;
  const PredictedTimes* times = nullptr;  // Predicted for the program; null: no times.
  absl::Span<const ExplainedNote> whole;  // Large arrays that no axis cuts (large_whole_arrays.h).
};

// `full`: every collective and array has a row of its own, with the name of its instruction.
Explanation Explain(const ExplainedProgram& program, bool full = false);

// The two parts of a collective's cause, "NAME: STEP": the step begins with a sharding or "device order", and may be missing.
std::pair<std::string, std::string> NameAndStep(const std::string& cause);

// One name for names that differ only by their numbers. A number that differs becomes a range if every value
// of the range occurs, otherwise *. Example: layers.0/dot.3, layers.1/dot.9 are "layers.0..1/dot.*".
std::string NameOfAll(const std::vector<std::string>& names);

}  // namespace toroid
