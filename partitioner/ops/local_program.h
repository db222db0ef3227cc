// Local programs: what one partition runs for an op of the global program.
//
// The common case is the op itself on local shapes. Ops whose local program differs have a row in local_programs.inc;
// each is given operands already brought to the shardings that the assignment needs.
#ifndef TOROID_PARTITIONER_OPS_LOCAL_PROGRAM_H_
#define TOROID_PARTITIONER_OPS_LOCAL_PROGRAM_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "partitioner/ops/sharding_rule.h"
#include "partitioner/spmd/spmd_builder.h"

// BUILD: srcs += "contraction.cc", "custom_calls.cc", "halo_programs.cc", "indexing.cc", "reduction.cc", "window_programs.cc"
namespace toroid {

struct OpContext {
  const Instruction* op = nullptr;  // Of the global program.
  const ShardingRule* rule = nullptr;
  absl::Span<const AxisList> factor_axes;
  std::vector<Instruction*> operands;  // Local values ...
  std::vector<Sharding> operand_shardings;
  std::vector<Sharding> results;  // Shardings of the local results, partial axes included.
  SpmdBuilder* b = nullptr;
  // The copy of a computation of the global program in the output module.
  std::function<Computation*(const Computation*)> copy_computation;

  const AxisList& AxesOf(int operand, int dim) const { return operand_shardings[operand].dims[dim]; }
  bool IsCut(int operand, int dim) const { return !AxesOf(operand, dim).empty(); }
  int64_t GlobalDim(int operand, int dim) const { return op->operand(operand)->shape().dim(dim); }
  // Local shape of result leaf i.
  Shape ResultShape(int i = 0) const;
  // The op on local shapes with attributes `attrs` (null: the op's own); one instruction per result leaf.
  std::vector<Instruction*> CloneLocal(const xla::HloInstructionProto* attrs = nullptr) const;
};

// The local values of the op's result leaves, in the shardings `context.results`.
// Errors: kInternal if a factor is cut that CanCutLocally refuses.
absl::StatusOr<std::vector<Instruction*>> LocalProgram(OpContext& context);

// True if the local program of `op` can be written with a factor of this kind cut.
bool CanCutLocally(const Instruction& op, FactorKind kind);

// Axes over which the local result is partial: those of reduction factors, and of the dimensions that gathers
// and dynamic slices index. Reductions that combine at once (variadic ones, and those from another init value
// than the neutral element) leave nothing partial.
AxisSet PartialAxes(const Instruction& op, const ShardingRule& rule, absl::Span<const AxisList> factor_axes);

// The op itself on local shapes. Padding of cut reduction factors is replaced by the reducer's neutral
// element, in every operand that has them: 0 x NaN is NaN.
absl::StatusOr<std::vector<Instruction*>> PartitionByRule(OpContext& context);

// Partition<Op>(OpContext&), for every row of the table: ops with local programs of their own.
#define LOCAL_PROGRAM(op, cuts, result) \
  absl::StatusOr<std::vector<Instruction*>> Partition##op(OpContext& context);
#include "partitioner/ops/local_programs.inc"
#undef LOCAL_PROGRAM

// A custom call on local operands with a local result, one instruction per result leaf. The callee was compiled for
// the layouts that the call states: operands are copied to them and results from them, so that all around it stays
// row-major, and the shapes in its operand constraints become those of the local operands.
std::vector<Instruction*> EmitCustomCall(SpmdBuilder& b, const Instruction& call,
                                         absl::Span<Instruction* const> operands, const Shape& local_result,
                                         const std::function<Computation*(const Computation*)>& copy_computation);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_LOCAL_PROGRAM_H_
