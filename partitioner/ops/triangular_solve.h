// `triangular-solve`: dimensions in front of the matrix are a batch, right-hand sides are independent. The matrix may be cut in
// blocks of t rows or columns, one per device; with T the matrix as it is applied from the left to the unknowns Y:
//
//   rows     for each block k in order: device k solves T_kk Y_k = (what is left of C_k) and sends Y_k; device i takes T_ik Y_k off C_i
//   columns  for each block k in order: the sum over devices of what their unknowns take off C_k; device k solves for Y_k.
//            Then all Y are gathered
//
// Right-hand sides are whole, and so is the result.
// Example: f32[4096,4096] in rows over 8, 16 right-hand sides: 8 broadcasts of f32[512,16], 262 kB; gathering sends 59 MB.
// Uneven: rows and columns behind the matrix are those of the identity, and what the op does not read is zero.
#ifndef TOROID_PARTITIONER_OPS_TRIANGULAR_SOLVE_H_
#define TOROID_PARTITIONER_OPS_TRIANGULAR_SOLVE_H_

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule TriangularSolveShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionTriangularSolve(OpContext& context);
int64_t BytesSentByTriangularSolve(const Instruction& op, int factor, int64_t tiles,
                                   absl::Span<const double> operand_bytes, int64_t halo);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_TRIANGULAR_SOLVE_H_
