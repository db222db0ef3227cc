// Sharding rules by family of ops; ShardingRuleOf dispatches to them through the opcode table.
//
// A rule names the factors of every dimension of the op, as an einsum would, and what cutting each means; see
// sharding_rule.h. Rules are written for verified instructions and have no errors.
// Example: f32[8,16] dot f32[16,4]: (m k), (k n) -> (m n), k a reduction, linear in either operand.
#ifndef TOROID_PARTITIONER_OPS_RULES_H_
#define TOROID_PARTITIONER_OPS_RULES_H_

#include "partitioner/ops/sharding_rule.h"

// BUILD: srcs += "elementwise_rules.cc", "data_movement_rules.cc", "contraction_rules.cc", "reduction_rules.cc"
// BUILD: srcs += "indexing_rules.cc", "call_rules.cc"

namespace toroid {

// The rule of an instruction, by its opcode's family. Opcodes without a rule of their own (custom-call, rng,
// ...) get one in which every dimension is blocked.
ShardingRule ShardingRuleOf(const Instruction& instruction);

// ShardingRule <Family>ShardingRule(const Instruction&), for every family of the table.
#define HLO_OP(enumerator, name, arity, family, attributes, traits) \
  ShardingRule family##ShardingRule(const Instruction& instruction);
#include "hlo/opcode.inc"
#undef HLO_OP

// Every dimension uncut: the op runs on whole arrays.
ShardingRule OpaqueRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_RULES_H_
