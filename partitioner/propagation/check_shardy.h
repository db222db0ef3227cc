// Shardy attributes that name what the module does not have.
//
//   {xla.sdy.sharding="#sdy.sharding<@grid, [{\"rows\"}, {}]>"}      the module has no mesh @grid
// Attributes are read wherever they stand, also where propagation would not look: on instructions that nothing uses, in
// computations that nothing calls, and in modules that fall back to ordinary shardings.
#ifndef TOROID_PARTITIONER_PROPAGATION_CHECK_SHARDY_H_
#define TOROID_PARTITIONER_PROPAGATION_CHECK_SHARDY_H_

#include "absl/status/status.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors: kInvalidArgument "computation/instruction: ..." for text that does not parse, a mesh or an axis that is not
// there, an axis used twice, another number of shardings than values.
absl::Status CheckShardyAttributes(const Module& module);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_CHECK_SHARDY_H_
