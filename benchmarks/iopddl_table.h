// Our answers on the benchmark of sharding search, beside the best known.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partitioner/choice/solve.h"

namespace toroid {

// A line of best_known.tsv.
struct IopddlInstance {
  std::string name, model, mesh;
  double seconds = 0;  // Allowed in the contest, on 8 cores.
  int64_t best_in_contest = 0;
  int64_t best_known = 0;  // As published: sometimes rounded to some digits.
  int64_t bound = 0;       // Published.
};

// Columns separated by tabs, the first line their names: instance, model, mesh, nodes, edges, seconds, best in the contest,
// best known, bound.
// Errors: kInvalidArgument, with the line, for lines without these columns.
absl::StatusOr<std::vector<IopddlInstance>> ParseIopddlInstances(absl::string_view text);

// Solves NAME.json.gz in `folder` for each instance of its best_known.tsv, in `time_factor` times its seconds.
// Errors: of reading, and of Solve.
absl::StatusOr<std::string> IopddlTable(const std::string& folder, double time_factor,
                                        const SolveOptions& options);

}  // namespace toroid
