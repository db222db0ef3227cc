// `--check`: the runs that it needs, and the verdict.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/check/check_outcome.h"
#include "runtime/check/program_runner.h"

namespace toroid {

struct RunCheck {
  const Module* program = nullptr;    // The program that ran.
  const Module* reference = nullptr;  // The unpartitioned module, if there is one.
  const Literal* recorded = nullptr;  // The result recorded with the arguments, if there is one.
  const Shape* global = nullptr;      // Global shape of the result; null: that of the joined shards.
  std::vector<double> tolerances;     // For each array leaf, or one for all.
  bool tolerance_is_given = false;    // By --tolerance: it alone decides.
  bool promote = false;               // Asks for the list of outputs.
  int64_t num_partitions = 1;
  double partition_seconds = 0;
};

// Judges `run`, the run of check.program by `runner`.
//
// With a reference: both programs run in the declared types and, if these are narrower than f64, once more without
// rounding (promote.h). Without rounding they must agree to kProofTolerance; that is the proof. An output that is zero
// except for rounding in all of these runs agrees, too. In the declared types the partitioned run must be within the
// tolerances of the exact result, or at most kRoundingFactor (kJumpingFactor) times as far from it as the unpartitioned
// run is in the worst output of that tolerance.
// With a recorded result: it must be within the tolerances of the run, or as close to the exact result as the rule above
// asks of the partitioned run, because its compiler may round in other places.
// --tolerance replaces both rules. If the runs without rounding do not fit into memory, the tolerances decide.
// Errors: those of the runs.
absl::StatusOr<CheckOutcome> CheckRun(const RunCheck& check, const ProgramRun& run, ProgramRunner& runner);

}  // namespace toroid
