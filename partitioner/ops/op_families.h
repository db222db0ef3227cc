// The functions of each op's family (op_family.h).
// BUILD: srcs += "bitcast_convert.cc", "broadcast.cc", "cholesky.cc", "collectives.cc", "concatenate.cc", "constant.cc"
// BUILD: srcs += "convolution.cc", "custom_call.cc", "dot.cc", "dynamic_slice.cc", "dynamic_update_slice.cc", "elementwise.cc"
// BUILD: srcs += "fft.cc", "gather.cc", "identity.cc", "iota.cc", "pad.cc", "ragged_dot.cc"
// BUILD: srcs += "reduce.cc", "reduce_window.cc", "reshape.cc", "rng_bit_generator.cc", "scaled_dot.cc", "scatter.cc"
// BUILD: srcs += "select_and_scatter.cc", "slice.cc", "sort.cc", "top_k.cc", "transpose.cc", "triangular_solve.cc"
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/ops/op_family.h"

namespace toroid {

// The value that the op's local program reads in place of operand k: the operand, or the array that it is a
// slice of (read_through.h). `OperandWindows` count rows of this value.
const Instruction& SourceOf(const Instruction& op, int k);

// The row of an opcode's family; kUnknown: a family whose ops run on replicated arrays.
const OpFamily& FamilyOf(Opcode opcode);

// The rule of an instruction. Opcodes without a rule of their own (rng, ...) get OpaqueRule.
ShardingRule ShardingRuleOf(const Instruction& instruction);

// Emits the op's local program. Returns the local value of each result leaf, in the shardings
// `context.results`.
absl::StatusOr<std::vector<Instruction*>> LocalProgram(OpContext& context);

// True if the local program of `op` can be written with a factor of this kind cut.
bool CanCutLocally(const Instruction& op, FactorKind kind);

}  // namespace toroid
