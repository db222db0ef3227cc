// The partitioner's functions for each family of ops (the family column of hlo/opcode.inc). Each family's
// functions stand in a source of this folder, whose head says what the ops do and how they are cut, and whose end
// has the family's row.
//
// A rule names the factors of every dimension of the op, as an einsum would, and what cutting each means; see
// sharding_rule.h. Rules are written for verified instructions and return no errors.
// Example: f32[8,16] dot f32[16,4]: (m k), (k n) -> (m n), k a reduction, linear in either operand.
// BUILD: srcs += "cholesky.cc", "collectives.cc", "convolution.cc", "custom_call.cc", "dot.cc", "dynamic_slices.cc"
// BUILD: srcs += "elementwise.cc", "fft.cc", "finite.cc", "gather_scatter.cc", "plain_ops.cc", "ragged_dot.cc"
// BUILD: srcs += "reduce.cc", "reduce_window.cc", "reshape.cc", "rng_bit_generator.cc", "row_moves.cc"
// BUILD: srcs += "select_and_scatter.cc", "sort.cc", "top_k.cc", "triangular_solve.cc"
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

// The rows. A family of hlo/opcode.inc without one is a link error that names the family.
namespace families {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) extern const OpFamily k##family;
#include "hlo/opcode.inc"
#undef HLO_OP
}  // namespace families

// The value that the op's local program reads in place of operand k: the operand, or the array that it is a
// slice of (row_moves.cc). `OperandWindows` count rows of this value.
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

// True if `op`, whose rule is `rule`, can run on shards of the operand that are cut in any dimension.
bool CanTakeParts(const Instruction& op, const ShardingRule& rule, size_t operand);

// Emits `call` on local operands with the shape `local_result`, and returns one instruction per result leaf.
// The callee was compiled for the layouts that the call states, and all other instructions are row-major:
// operands are copied to the stated layouts, and results from them. The call's operand constraints get the
// shapes of the local operands.
std::vector<Instruction*> EmitCustomCall(SpmdBuilder& b, const Instruction& call,
                                         absl::Span<Instruction* const> operands, const Shape& local_result);

// The local rows of dimension `d`, of n rows cut over `axes`, in reverse order.
Instruction* ReverseCut(SpmdBuilder& b, Instruction* x, int d, int64_t n, const AxisList& axes);

// Which values constants of the program make infinite, NaN or zero (finite.cc).
// True if a short chain of ops shows that some element of a value may be infinite or NaN: the chain starts at
// a constant that holds such an element, or at a division by a constant that holds a zero (or its reciprocal
// square root or logarithm), and goes on through ops that move, select, negate, add or multiply elements.
// Values computed from arguments count as finite.
bool IsVisiblyNonFinite(const Instruction& value);

// True if `value` is a constant that holds a zero, or is made of one by a short chain of ops that move,
// select or negate elements.
bool IsVisiblyZero(const Instruction& value);

// Declares that `product`, a bilinear op of its first two operands, is linear in each of them whose
// counterpart is not visibly non-finite.
void AddLinearityOfProduct(const Instruction& product, ShardingRule* rule);

}  // namespace toroid
