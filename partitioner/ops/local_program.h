// The inputs of an op's local program: the op, its local operands and the shardings of its results.
//
// By default the local program is the op itself on local shapes (PartitionByRule). Families whose local
// program differs have a function Partition<Family>(OpContext&), named by their row of op_families.cc. The
// caller has resharded the operands to what the assignment requires.
#pragma once

#include <vector>

#include "partitioner/ops/sharding_rule.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

struct OpContext {
  const Instruction* op = nullptr;  // In the global program.
  const ShardingRule* rule = nullptr;
  absl::Span<const AxisList> factor_axes;
  SpmdBuilder* b = nullptr;
  std::vector<Instruction*> operands;  // Local values: of SourceOf(op, k) for operand k.
  std::vector<Sharding> operand_shardings;
  std::vector<Sharding> results;  // Shardings of the local results, partial axes included.

  const AxisList& AxesOf(int operand, int dim) const { return operand_shardings[operand].dims[dim]; }
  bool IsCut(int operand, int dim) const { return !AxesOf(operand, dim).empty(); }
  // The size in the op's operand, not in the array that SourceOf reads in its place.
  int64_t GlobalDim(int operand, int dim) const { return op->operand(operand)->shape().dim(dim); }
  // The kind of the dimension's first factor. Requires: the dimension has a factor.
  FactorKind KindOf(int operand, int dim) const {
    return rule->factors[rule->operands[operand][dim].factor[0]].kind;
  }
  // Local shape of result leaf i.
  Shape ResultShape(int i = 0) const;
  // Local shape of the result, of one array or a tuple of arrays.
  Shape LocalShape() const;
  // The op on local shapes with attributes `attrs` (null: the op's own); one instruction per result leaf.
  std::vector<Instruction*> CloneLocal(const xla::HloInstructionProto* attrs = nullptr) const;
  // Copies the instructions of a computation of the global program into `to`, with `arguments` in place of
  // the parameters. Returns the copies by index.
  std::vector<Instruction*> CopyInto(const Computation& from, absl::Span<Instruction* const> arguments,
                                     Computation* to) const;
  // Replaces the padding of operand i along cut reduction factors by the scalar that `fill` makes.
  void MaskReductions(int i, absl::FunctionRef<Instruction*(PrimitiveType type)> fill);
};

// The op itself on local shapes. The padding of cut reduction factors is replaced by the reducer's neutral
// element in every operand that has them: in only one it would not do, as 0 x NaN is NaN.
std::vector<Instruction*> PartitionByRule(OpContext& context);

}  // namespace toroid
