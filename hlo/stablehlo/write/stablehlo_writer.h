// A module as StableHLO text, in the generic form.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// The text of a module that MLIR reads. Tuples are taken apart: a parameter or result that is a tuple becomes several.
// Shardings, frontend attributes, names and stack frames go with it; layouts stay only where a custom call asks for them. A
// reduce-scatter or collective-permute of several arrays becomes one of each.
// Errors: kInvalidArgument, "COMPUTATION/INSTRUCTION: what", for what StableHLO lacks: opcodes, asynchronous pairs, reversed
// windows, bodies nested deeper than 200.
absl::StatusOr<std::string> PrintStableHlo(const Module& module);

}  // namespace toroid
