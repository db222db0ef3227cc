// `triangular-solve`: dimensions in front of the matrix are a batch, right-hand sides are independent. The
// matrix may be cut in blocks of t rows or columns, one per device. With T Y = C for the op's system, Y its
// unknowns, and the blocks k in order of the solve:
//
//   rows     device k solves T_kk Y_k = C_k and sends Y_k to all; device i subtracts T_ik Y_k from its C_i
//   columns  an all-reduce adds the products T_kj Y_j of all devices j; device k subtracts the sum from C_k
//            and solves for Y_k. At the end an all-gather collects all Y_k
//
// The dimension of the unknowns is not cut in the right-hand sides, nor in the result.
// Example: f32[4096,4096] in rows over 8, 16 right-hand sides: 8 broadcasts of f32[512,16], 262 kB; gathering
//          sends 59 MB.
// Uneven: rows and columns beyond the matrix are filled with those of the identity. Elements that the op does
//          not read become zero.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule TriangularSolveShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionTriangularSolve(OpContext& context);
}  // namespace toroid
