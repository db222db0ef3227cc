// `cholesky`: dimensions in front of the matrix are a batch. The rows of the matrix may be cut too if the op
// reads the lower triangle, its columns if the op reads the upper one. The upper case is the lower one of the
// conjugate transpose:
//
//   L L^H = A, in blocks of t rows, one per device. For k = 0, 1, ..:
//     device k:   L_kk = cholesky(A_kk - sum over l < k of L_kl L_kl^H); it sends L_k0 .. L_kk to all others
//     device i:   L_ik = (A_ik - sum over l < k of L_il L_kl^H) L_kk^-H, for i > k
//
// Example: f32[4096,4096] over 8: 7 broadcasts of 1 to 7 blocks of 1 MiB, 29 MB; gathering sends 59 MB.
// Flops: about n^3 / D on each of D devices, instead of n^3 / 3.
// Uneven: rows and columns beyond the matrix are filled with those of the identity.
#pragma once

#include "partitioner/ops/local_program.h"

namespace toroid {

ShardingRule CholeskyShardingRule(const Instruction& instruction);
absl::StatusOr<std::vector<Instruction*>> PartitionCholesky(OpContext& context);
}  // namespace toroid
