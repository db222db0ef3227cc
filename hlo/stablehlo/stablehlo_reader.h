// Reads StableHLO text.
//
// The module is that of an HLO dump of the same program: functions become computations, regions too, and Shardy's
// operations the custom calls and frontend attributes of dumps (hlo/io/sdy_sharding.h). Only functions that @main
// reaches are converted.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/module.h"

namespace toroid {

// True for MLIR text with functions or operations of StableHLO in the generic or the pretty form.
bool LooksLikeStableHlo(absl::string_view text);

// Errors: kInvalidArgument "LINE:COL: what is wrong", also for operations that HLO does not have, recursion, sizes
// without bounds.
absl::StatusOr<std::unique_ptr<Module>> ReadStableHlo(absl::string_view text);

}  // namespace toroid
