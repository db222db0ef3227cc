#include "partitioner/ops/linear_algebra.h"

namespace toroid {

ShardingRule CholeskyShardingRule(const Instruction& instruction) {
  return BatchRule(instruction, instruction.shape().rank() - 2);
}

// Right-hand-side columns (rows, when solving from the right) are independent.
ShardingRule TriangularSolveShardingRule(const Instruction& instruction) {
  const int rank = instruction.shape().rank();
  ShardingRule rule = BatchRule(instruction, rank - 2);
  const int free = instruction.attrs().triangular_solve_options().left_side() ? rank - 1 : rank - 2;
  const int columns = rule.AddFactor(instruction.shape().dim(free));
  rule.operands[1][free] = columns;
  rule.results[0][free] = columns;
  return rule;
}

}  // namespace toroid
