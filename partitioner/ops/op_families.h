// The partitioner's functions for each family of ops (the family column of hlo/opcode.inc). op_families.cc
// has one row per family; each family's functions have a source file of their own in this folder.
//
// A rule names the factors of every dimension of the op, as an einsum would, and what cutting each means; see
// sharding_rule.h. Rules are written for verified instructions and return no errors.
// Example: f32[8,16] dot f32[16,4]: (m k), (k n) -> (m n), k a reduction, linear in either operand.
#pragma once

#include <vector>

#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

struct OpFamily {
  ShardingRule (*rule)(const Instruction& op);
  // The local program, which can cut permuting, exchanged and indexed factors. Null: PartitionByRule, which
  // cannot.
  std::vector<Instruction*> (*program)(OpContext& context) = nullptr;
  // The operand rows that each tile reads if the factor is cut in `tiles`. Null: a tile's own rows only.
  // Factor d is dimension d of the result, except in convolutions.
  std::vector<OperandWindows> (*reads)(const Instruction& op, int factor, int64_t tiles) = nullptr;
  // The value that the local program reads in place of operand k. Null: the operand itself.
  const Instruction& (*source)(const Instruction& op, int k) = nullptr;
};

// The value that the op's local program reads in place of operand k: the operand, or the array that it is a
// slice of (read_through.cc). `OperandWindows` count rows of this value.
const Instruction& SourceOf(const Instruction& op, int k);

// The row of an opcode's family; kUnknown: a family whose ops run on replicated arrays.
const OpFamily& FamilyOf(Opcode opcode);

// The rule of an instruction. Opcodes without a rule of their own (rng, ...) get OpaqueRule.
ShardingRule ShardingRuleOf(const Instruction& instruction);

// Emits the op's local program. Returns the local value of each result leaf, in the shardings
// `context.results`.
std::vector<Instruction*> LocalProgram(OpContext& context);

// True if the local program of `op` can be written with a factor of this kind cut.
bool CanCutLocally(const Instruction& op, FactorKind kind);

}  // namespace toroid
