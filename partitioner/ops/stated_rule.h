// The sharding rule that a custom call states, as JAX's custom_partitioning and kernel libraries write it.
//
//   xla.sdy.sharding_rule="#sdy.op_sharding_rule<([i, j])->([i, j]) {i=32, j=8} need_replication={j}, custom>"
//
// A pass-through factor is cut alike in all its tensors, and each device calls the target on its shards. A
// reduction factor leaves partial sums. Factors that need replication are gathered first, but sharding flows
// along them. So are permutation factors, since it is unknown what the target would exchange. No sharding flows
// along blocked factors; where the neighbours of the call cut them alike, the call is cut like them. The target would
// see the padding of uneven shards, so factors are only cut evenly, over fewer axes if need be.
// Source: Shardy, OpShardingRuleAttr.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "partitioner/ops/sharding_rule.h"

namespace toroid {

// The frontend attribute that states a rule.
inline constexpr char kStatedRule[] = "xla.sdy.sharding_rule";

// nullopt if the instruction states no rule or one that CheckStatedRule refuses, or has a tuple as operand.
std::optional<ShardingRule> StatedShardingRule(const Instruction& op);

// OK if the instruction states no rule, or a valid one.
// Errors: kInvalidArgument for a rule that does not parse, whose tensors, ranks or sizes differ from the
//          instruction's, that has more than 64 factors, or a reduction factor in a result.
absl::Status CheckStatedRule(const Instruction& op);

}  // namespace toroid
