// The functions of each family of ops, which op_families.cc names: its rule, its local program unless that is
// the op itself, and the operand rows that its tiles read. The head of each source says what the ops do and
// how they are cut.
// BUILD: srcs += "cholesky.cc", "collectives.cc", "convolution.cc", "custom_call.cc", "dot.cc", "dynamic_slices.cc"
// BUILD: srcs += "elementwise.cc", "fft.cc", "finite.cc", "gather_scatter.cc", "plain_ops.cc", "ragged_dot.cc", "read_through.cc"
// BUILD: srcs += "reduce.cc", "reduce_window.cc", "reshape.cc", "rng_bit_generator.cc", "row_moves.cc"
// BUILD: srcs += "select_and_scatter.cc", "sort.cc", "top_k.cc", "triangular_solve.cc"
#pragma once

#include <vector>

#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/ops/tile_windows.h"

namespace toroid {

// Elementwise (elementwise.cc); the first one for ops that are linear in no operand.
ShardingRule ElementwiseShardingRule(const Instruction& op);
ShardingRule UnaryShardingRule(const Instruction& op);
ShardingRule BinaryShardingRule(const Instruction& op);
ShardingRule SelectShardingRule(const Instruction& op);
ShardingRule ConvertShardingRule(const Instruction& op);

// Ops that make or rearrange elements (plain_ops.cc).
ShardingRule ConstantShardingRule(const Instruction& op);
ShardingRule IotaShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionIota(OpContext& context);
ShardingRule BroadcastShardingRule(const Instruction& op);
ShardingRule TransposeShardingRule(const Instruction& op);
ShardingRule IdentityShardingRule(const Instruction& op);
ShardingRule AddDependencyShardingRule(const Instruction& op);
ShardingRule BitcastConvertShardingRule(const Instruction& op);

ShardingRule ReshapeShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionReshape(OpContext& context);
// In rows of the operand's dimension or of the result's: those that an uneven cut of a leading factor
// fetches.
std::vector<OperandWindows> ReadsOfReshape(const Instruction& op, int factor, int64_t tiles);

// Ops that move rows (row_moves.cc).
ShardingRule SliceShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionSlice(OpContext& context);
std::vector<OperandWindows> ReadsOfSlice(const Instruction& op, int dim, int64_t tiles);
ShardingRule PadShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionPad(OpContext& context);
std::vector<OperandWindows> ReadsOfPad(const Instruction& op, int dim, int64_t tiles);
ShardingRule ConcatenateShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionConcatenate(OpContext& context);
std::vector<OperandWindows> ReadsOfConcatenate(const Instruction& op, int dim, int64_t tiles);
ShardingRule ReverseShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionReverse(OpContext& context);
std::vector<OperandWindows> ReadsOfReverse(const Instruction& op, int dim, int64_t tiles);
// The local rows of dimension `d`, of n rows cut over `axes`, in reverse order.
Instruction* ReverseCut(SpmdBuilder& b, Instruction* x, int d, int64_t n, const AxisList& axes);

// The array that a concatenate or pad reads in place of operand k (read_through.cc): if the operand is a
// slice with strides of 1, and all such operands together take most of the sliced array, that array;
// otherwise the operand itself. Shardings do not influence the choice, so that all stages of the partitioner
// agree on it.
const Instruction& ConcatenateSource(const Instruction& op, int k);
const Instruction& PadSource(const Instruction& op, int k);
// The rows [start, limit) of `source` along `dim` that are the rows of operand `k`; `source` is the operand
// itself or the array that it is a slice of.
SliceBounds RowsOfSource(const Instruction& op, int k, const Instruction& source, int dim);

// Ops that address an operand by computed indices (dynamic_slices.cc, gather_scatter.cc).
ShardingRule DynamicSliceShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionDynamicSlice(OpContext& context);
ShardingRule DynamicUpdateSliceShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionDynamicUpdateSlice(OpContext& context);
std::vector<OperandWindows> ReadsOfDynamicUpdateSlice(const Instruction& op, int dim, int64_t tiles);
ShardingRule GatherShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionGather(OpContext& context);
ShardingRule ScatterShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionScatter(OpContext& context);

// Products (dot.cc, ragged_dot.cc, convolution.cc).
ShardingRule DotShardingRule(const Instruction& op);
ShardingRule ScaledDotShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionScaledDot(OpContext& context);
ShardingRule RaggedDotShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionRaggedDot(OpContext& context);
ShardingRule ConvolutionShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionConvolution(OpContext& context);
std::vector<OperandWindows> ReadsOfConvolution(const Instruction& op, int factor, int64_t tiles);

// Reductions.
ShardingRule ReduceShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionReduce(OpContext& context);
ShardingRule ReduceWindowShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionReduceWindow(OpContext& context);
// Empty for cumulative windows.
std::vector<OperandWindows> ReadsOfReduceWindow(const Instruction& op, int dim, int64_t tiles);
ShardingRule SelectAndScatterShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionSelectAndScatter(OpContext& context);
std::vector<OperandWindows> ReadsOfSelectAndScatter(const Instruction& op, int dim, int64_t tiles);

// Order.
ShardingRule SortShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionSort(OpContext& context);
// Of the op, and of custom calls of the same meaning.
ShardingRule TopKShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionTopK(OpContext& context);

// Numerics.
ShardingRule FftShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionFft(OpContext& context);
ShardingRule CholeskyShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionCholesky(OpContext& context);
ShardingRule TriangularSolveShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionTriangularSolve(OpContext& context);
ShardingRule RngBitGeneratorShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionRngBitGenerator(OpContext& context);

// Collectives that the program's author wrote (collectives.cc).
ShardingRule CollectiveShardingRule(const Instruction& op);
ShardingRule AllToAllShardingRule(const Instruction& op);
ShardingRule CollectivePermuteShardingRule(const Instruction& op);

ShardingRule CustomCallShardingRule(const Instruction& op);
std::vector<Instruction*> PartitionCustomCall(OpContext& context);
// Emits `call` on local operands with the shape `local_result`, and returns one instruction per result leaf.
// The callee was compiled for the layouts that the call states, and all other instructions are row-major:
// operands are copied to the stated layouts, and results from them. The call's operand constraints get the
// shapes of the local operands.
std::vector<Instruction*> EmitCustomCall(SpmdBuilder& b, const Instruction& call,
                                         absl::Span<Instruction* const> operands, const Shape& local_result);

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
