// Sharding rules by family of ops; ShardingRuleOf dispatches to them through the opcode table.
#ifndef TOROID_PARTITIONER_OPS_RULES_H_
#define TOROID_PARTITIONER_OPS_RULES_H_

#include "partitioner/sharding_rule.h"

// BUILD: srcs += "elementwise_rules.cc", "data_movement_rules.cc", "contraction_rules.cc", "reduction_rules.cc"
// BUILD: srcs += "indexing_rules.cc", "call_rules.cc"

namespace toroid {

// The rule of an instruction, by its opcode's family. Opcodes without a rule of their own (custom-call, rng, ...)
// get one in which every dimension is blocked.
ShardingRule ShardingRuleOf(const Instruction& instruction);

// Elementwise.
ShardingRule UnaryShardingRule(const Instruction& instruction);
ShardingRule BinaryShardingRule(const Instruction& instruction);
ShardingRule CompareShardingRule(const Instruction& instruction);
ShardingRule SelectShardingRule(const Instruction& instruction);
ShardingRule ClampShardingRule(const Instruction& instruction);
ShardingRule ConvertShardingRule(const Instruction& instruction);
ShardingRule IdentityShardingRule(const Instruction& instruction);
ShardingRule MapShardingRule(const Instruction& instruction);

// Data movement.
ShardingRule BroadcastShardingRule(const Instruction& instruction);
ShardingRule ReshapeShardingRule(const Instruction& instruction);
ShardingRule TransposeShardingRule(const Instruction& instruction);
ShardingRule ReverseShardingRule(const Instruction& instruction);
ShardingRule ConcatenateShardingRule(const Instruction& instruction);
ShardingRule SliceShardingRule(const Instruction& instruction);
ShardingRule PadShardingRule(const Instruction& instruction);
ShardingRule IotaShardingRule(const Instruction& instruction);
ShardingRule ConstantShardingRule(const Instruction& instruction);
ShardingRule BitcastConvertShardingRule(const Instruction& instruction);

// Indexing.
ShardingRule DynamicSliceShardingRule(const Instruction& instruction);
ShardingRule DynamicUpdateSliceShardingRule(const Instruction& instruction);
ShardingRule GatherShardingRule(const Instruction& instruction);
ShardingRule ScatterShardingRule(const Instruction& instruction);

// Contractions.
ShardingRule DotShardingRule(const Instruction& instruction);
ShardingRule ConvolutionShardingRule(const Instruction& instruction);

// Reductions, windows, sorting.
ShardingRule ReduceShardingRule(const Instruction& instruction);
ShardingRule ReduceWindowShardingRule(const Instruction& instruction);
ShardingRule SelectAndScatterShardingRule(const Instruction& instruction);
ShardingRule SortShardingRule(const Instruction& instruction);
ShardingRule TopKShardingRule(const Instruction& instruction);
ShardingRule FftShardingRule(const Instruction& instruction);
ShardingRule CholeskyShardingRule(const Instruction& instruction);
ShardingRule TriangularSolveShardingRule(const Instruction& instruction);

// Custom calls with a known meaning, and collectives written by hand in manual regions.
ShardingRule CustomCallShardingRule(const Instruction& instruction);
ShardingRule AllReduceShardingRule(const Instruction& instruction);
ShardingRule AllGatherShardingRule(const Instruction& instruction);
ShardingRule ReduceScatterShardingRule(const Instruction& instruction);
ShardingRule AllToAllShardingRule(const Instruction& instruction);
ShardingRule CollectivePermuteShardingRule(const Instruction& instruction);

// Every dimension uncut: the op runs on whole arrays.
ShardingRule OpaqueRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_RULES_H_
