// The sharding rule that a custom call states, as custom_partitioning and kernels of libraries write it.
//
//   xla.sdy.sharding_rule="#sdy.op_sharding_rule<([i, j])->([i, j]) {i=32, j=8} need_replication={j}, custom>"
//
// Factors that pass through cut all their tensors alike, and each device calls the target on its shards. A reduction factor
// leaves partial sums. Factors that need replication, and permutation factors (what the target would exchange is unknown),
// are gathered first; sharding flows along them. Along factors of blocked propagation none does: where the neighbours cut
// them, the call is cut alike.
// The target would see the padding of uneven shards: factors are cut where they divide, over fewer axes if need be.
// Source: Shardy, OpShardingRuleAttr.
#ifndef TOROID_PARTITIONER_OPS_STATED_RULE_H_
#define TOROID_PARTITIONER_OPS_STATED_RULE_H_

#include <optional>

#include "absl/status/status.h"
#include "partitioner/ops/sharding_rule.h"

namespace toroid {

// nullopt where the instruction states none, or one that CheckStatedRule refuses.
std::optional<ShardingRule> StatedShardingRule(const Instruction& instruction);

// Errors: kInvalidArgument for a rule that does not parse, has other tensors, ranks or sizes than the instruction, more
// factors than a rule can have, or a reduction factor in a result.
absl::Status CheckStatedRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_STATED_RULE_H_
