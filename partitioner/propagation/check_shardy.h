// Checks that Shardy attributes name only meshes, axes and values that the module has. Example of an error:
//
//   {xla.sdy.sharding="#sdy.sharding<@grid, [{\"rows\"}, {}]>"}      the module has no mesh @grid
//
// All attributes are checked, also those that propagation does not read: on instructions without users, in
// computations without callers, and in modules that fall back to ordinary shardings.
#pragma once

#include "absl/status/status.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors: kInvalidArgument "computation/instruction: ..." for text that does not parse, a mesh or axis that
// does not exist, an axis used twice, or a number of shardings that differs from the number of values.
absl::Status CheckShardyAttributes(const Module& module);

}  // namespace toroid
