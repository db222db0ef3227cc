// Rules of reductions, windows, sorting and linear algebra.
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/rules.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

// One factor per dimension of operand 0; the dimensions in [from, rank) are whole.
ShardingRule BatchRule(const Instruction& instruction, int from, FactorKind kind) {
  const auto dims = instruction.operand(0)->shape().dims();
  ShardingRule rule;
  TensorFactors factors;
  for (size_t d = 0; d < dims.size(); ++d) {
    factors.push_back(rule.AddFactor(dims[d], static_cast<int>(d) < from ? FactorKind::kPassThrough : kind));
  }
  for (int i = 0; i < instruction.num_operands(); ++i) rule.operands.push_back(factors);
  const int64_t leaves = instruction.shape().NumLeaves();
  for (int64_t i = 0; i < leaves; ++i) rule.results.push_back(factors);
  return rule;
}

}  // namespace

// (k r), () -> (k), r reduced; n operands, n init values, n results.
ShardingRule ReduceShardingRule(const Instruction& instruction) {
  const int n = instruction.num_operands() / 2;
  ShardingRule rule;
  uint64_t reduced = 0;
  for (const int64_t d : instruction.dimensions()) reduced |= uint64_t{1} << d;
  TensorFactors operand, result;
  const Shape& shape = instruction.operand(0)->shape();
  for (int d = 0; d < shape.rank(); ++d) {
    const bool is_reduced = reduced >> d & 1;
    operand.push_back(
        rule.AddFactor(shape.dim(d), is_reduced ? FactorKind::kReduction : FactorKind::kPassThrough));
    if (!is_reduced) result.push_back(operand[d]);
  }
  for (int i = 0; i < n; ++i) rule.operands.push_back(operand);
  for (int i = 0; i < n; ++i) rule.operands.emplace_back();
  for (int i = 0; i < n; ++i) rule.results.push_back(result);
  const std::optional<Reducer> reducer = n == 1 ? ClassifyReducer(*instruction.called(0)) : std::nullopt;
  if (reducer) {
    rule.reducer = *reducer;
    if (*reducer == Reducer::kAdd) rule.linear.push_back({0b1});
  }
  return rule;
}

ShardingRule ReduceWindowShardingRule(const Instruction& instruction) {
  const int n = instruction.num_operands() / 2;
  ShardingRule rule;
  TensorFactors factors;
  const Shape& shape = instruction.operand(0)->shape();
  const Shape& result =
      instruction.shape().IsTuple() ? instruction.shape().tuple_shape(0) : instruction.shape();
  for (int d = 0; d < shape.rank(); ++d) {
    const bool trivial = WindowView(instruction)[d].IsTrivial();
    factors.push_back(
        rule.AddFactor(result.dim(d), trivial ? FactorKind::kPassThrough : FactorKind::kPermuting));
  }
  for (int i = 0; i < n; ++i) rule.operands.push_back(factors);
  for (int i = 0; i < n; ++i) rule.operands.emplace_back();
  for (int i = 0; i < n; ++i) rule.results.push_back(factors);
  return rule;
}

// Windows that lie apart, each within its stride, are cut with their rows.
ShardingRule SelectAndScatterShardingRule(const Instruction& instruction) {
  ShardingRule rule;
  TensorFactors factors;
  const Shape& shape = instruction.shape();
  for (int d = 0; d < shape.rank(); ++d) {
    const WindowDim window = WindowView(instruction)[d];
    const bool apart = window.size <= window.stride && window.padding_low == 0 && window.padding_high == 0 &&
                       window.base_dilation == 1 && window.window_dilation == 1;
    const FactorKind kind = window.IsTrivial() ? FactorKind::kPassThrough
                            : apart            ? FactorKind::kPermuting
                                               : FactorKind::kWhole;
    factors.push_back(rule.AddFactor(shape.dim(d), kind));
  }
  rule.operands = {factors, factors, TensorFactors()};
  rule.results.push_back(factors);
  return rule;
}

ShardingRule SortShardingRule(const Instruction& instruction) {
  ShardingRule rule =
      BatchRule(instruction, instruction.operand(0)->shape().rank(), FactorKind::kPassThrough);
  rule.factors[instruction.dimension()].kind = FactorKind::kWhole;
  return rule;
}

// The last dimension shrinks to k: private on each side.
ShardingRule TopKShardingRule(const Instruction& instruction) {
  const int rank = instruction.operand(0)->shape().rank();
  ShardingRule rule = BatchRule(instruction, rank - 1, FactorKind::kBlocked);
  for (TensorFactors& result : rule.results) result[rank - 1] = DimFactors();
  return rule;
}

ShardingRule FftShardingRule(const Instruction& instruction) {
  const int rank = instruction.shape().rank();
  return BatchRule(instruction, rank - instruction.attrs().fft_length_size(), FactorKind::kBlocked);
}

ShardingRule CholeskyShardingRule(const Instruction& instruction) {
  return BatchRule(instruction, instruction.shape().rank() - 2, FactorKind::kBlocked);
}

// Right-hand-side columns (rows, when solving from the right) are independent.
ShardingRule TriangularSolveShardingRule(const Instruction& instruction) {
  const int rank = instruction.shape().rank();
  ShardingRule rule = BatchRule(instruction, rank - 2, FactorKind::kBlocked);
  const int free = instruction.attrs().triangular_solve_options().left_side() ? rank - 1 : rank - 2;
  const int columns = rule.AddFactor(instruction.shape().dim(free));
  rule.operands[1][free] = columns;
  rule.results[0][free] = columns;
  return rule;
}

}  // namespace toroid
