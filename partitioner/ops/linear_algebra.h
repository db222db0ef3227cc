// `cholesky`, `triangular-solve`: leading dimensions are a batch, the rest runs in one piece; right-hand-side
// columns of a solve (rows, when solving from the right) are independent. The local program is the op itself.
#ifndef TOROID_PARTITIONER_OPS_LINEAR_ALGEBRA_H_
#define TOROID_PARTITIONER_OPS_LINEAR_ALGEBRA_H_

#include "partitioner/ops/sharding_rule.h"

namespace toroid {

ShardingRule CholeskyShardingRule(const Instruction& instruction);
ShardingRule TriangularSolveShardingRule(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_LINEAR_ALGEBRA_H_
