// Rules of ops that address an operand by computed indices.
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/rules.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  for (const int64_t v : list) {
    if (v == value) return true;
  }
  return false;
}

int IndexOf(absl::Span<const int64_t> list, int64_t value) {
  for (int i = 0; i < list.size(); ++i) {
    if (list[i] == value) return i;
  }
  return -1;
}

}  // namespace

// Whole dimensions pass through; a sliced dimension is addressed by the start index and private to each side.
ShardingRule DynamicSliceShardingRule(const Instruction& instruction) {
  const Shape& from = instruction.operand(0)->shape();
  ShardingRule rule;
  TensorFactors operand, result;
  for (int d = 0; d < from.rank(); ++d) {
    if (from.dim(d) == instruction.shape().dim(d)) {
      operand.push_back(rule.AddFactor(from.dim(d)));
      result.push_back(operand[d]);
    } else {
      operand.push_back(rule.AddFactor(from.dim(d), FactorKind::kIndexed));
      result.push_back(DimFactors());
    }
  }
  rule.operands.push_back(operand);
  for (int i = 1; i < instruction.num_operands(); ++i) {
    rule.operands.emplace_back(TensorFactors(instruction.operand(i)->shape().rank()));
  }
  rule.results.push_back(result);
  rule.linear.push_back({0b1, /*any_reducer=*/true});
  return rule;
}

ShardingRule DynamicUpdateSliceShardingRule(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  const Shape& update_shape = instruction.operand(1)->shape();
  ShardingRule rule;
  TensorFactors operand, update;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool whole = shape.dim(d) == update_shape.dim(d);
    operand.push_back(rule.AddFactor(shape.dim(d), whole ? FactorKind::kPassThrough : FactorKind::kIndexed));
    update.push_back(whole ? operand[d] : DimFactors());
  }
  rule.operands = {operand, update};
  for (int i = 2; i < instruction.num_operands(); ++i) {
    rule.operands.emplace_back(TensorFactors(instruction.operand(i)->shape().rank()));
  }
  rule.results.push_back(operand);
  rule.linear.push_back({0b11, /*any_reducer=*/true});
  return rule;
}

// Operand dimensions taken whole <-> offset dimensions of the result; batch dimensions of the indices <-> the
// rest of the result; batching dimensions in all three; an operand dimension from which single elements are
// picked is indexed.
ShardingRule GatherShardingRule(const Instruction& instruction) {
  const GatherView numbers(instruction);
  const Shape& from = instruction.operand(0)->shape();
  const Shape& indices_shape = instruction.operand(1)->shape();
  ShardingRule rule;
  TensorFactors operand(from.rank()), indices(indices_shape.rank()), result(instruction.shape().rank());

  std::vector<int> batch_dims;  // Of the indices, in order.
  for (int d = 0; d < indices_shape.rank(); ++d) {
    if (d != numbers.index_vector_dim()) batch_dims.push_back(d);
  }
  size_t next_batch = 0;
  int next_offset = 0;
  std::vector<int> window_dims;  // Of the operand, in order.
  for (int d = 0; d < from.rank(); ++d) {
    if (!Contains(numbers.collapsed_slice_dims(), d) && !Contains(numbers.operand_batching_dims(), d)) {
      window_dims.push_back(d);
    }
  }
  for (int d = 0; d < instruction.shape().rank(); ++d) {
    if (Contains(numbers.offset_dims(), d)) {
      const int from_dim = window_dims[next_offset++];
      if (numbers.slice_sizes()[from_dim] == from.dim(from_dim)) {
        operand[from_dim] = result[d] = rule.AddFactor(from.dim(from_dim));
      }
    } else {
      const int batch = batch_dims[next_batch++];
      indices[batch] = result[d] = rule.AddFactor(indices_shape.dim(batch));
      const int pair = IndexOf(numbers.start_indices_batching_dims(), batch);
      if (pair >= 0) operand[numbers.operand_batching_dims()[pair]] = result[d];
    }
  }
  // A collapsed dimension that no index addresses is read at 0: it stays whole.
  for (const int64_t d : numbers.collapsed_slice_dims()) {
    if (Contains(numbers.start_index_map(), d))
      operand[d] = rule.AddFactor(from.dim(d), FactorKind::kIndexed);
  }
  rule.operands = {operand, indices};
  rule.results.push_back(result);
  rule.linear.push_back({0b1, /*any_reducer=*/true});
  return rule;
}

// n operands, indices, n updates. Windows taken whole pass through; batch dimensions of indices and updates
// are reduced if the update computation is a plain reducer; inserted dimensions are indexed.
ShardingRule ScatterShardingRule(const Instruction& instruction) {
  const ScatterView numbers(instruction);
  const int n = instruction.num_operands() / 2;
  const Shape& to = instruction.operand(0)->shape();
  const Shape& indices_shape = instruction.operand(n)->shape();
  const Shape& updates_shape = instruction.operand(n + 1)->shape();
  const std::optional<Reducer> reducer = n == 1 ? ClassifyReducer(*instruction.called(0)) : std::nullopt;
  ShardingRule rule;
  rule.reducer = reducer.value_or(Reducer::kAdd);
  const FactorKind batch_kind = reducer == Reducer::kAdd ? FactorKind::kReduction : FactorKind::kWhole;
  TensorFactors operand(to.rank()), indices(indices_shape.rank()), updates(updates_shape.rank());

  std::vector<int> batch_dims, window_dims;
  for (int d = 0; d < indices_shape.rank(); ++d) {
    if (d != numbers.index_vector_dim()) batch_dims.push_back(d);
  }
  for (int d = 0; d < to.rank(); ++d) {
    if (!Contains(numbers.inserted_window_dims(), d) && !Contains(numbers.operand_batching_dims(), d)) {
      window_dims.push_back(d);
    }
  }
  size_t next_batch = 0, next_window = 0;
  for (int d = 0; d < updates_shape.rank(); ++d) {
    if (Contains(numbers.update_window_dims(), d)) {
      const int to_dim = window_dims[next_window++];
      if (updates_shape.dim(d) == to.dim(to_dim)) {
        operand[to_dim] = updates[d] = rule.AddFactor(to.dim(to_dim));
      }
    } else {
      const int batch = batch_dims[next_batch++];
      const int pair = IndexOf(numbers.indices_batching_dims(), batch);
      indices[batch] = updates[d] =
          rule.AddFactor(indices_shape.dim(batch), pair >= 0 ? FactorKind::kPassThrough : batch_kind);
      if (pair >= 0) operand[numbers.operand_batching_dims()[pair]] = updates[d];
    }
  }
  for (const int64_t d : numbers.inserted_window_dims()) {
    if (Contains(numbers.scatter_dims_to_operand_dims(), d)) {
      operand[d] = rule.AddFactor(to.dim(d), FactorKind::kIndexed);
    }
  }
  for (int i = 0; i < n; ++i) rule.operands.push_back(operand);
  rule.operands.push_back(indices);
  for (int i = 0; i < n; ++i) rule.operands.push_back(updates);
  for (int i = 0; i < n; ++i) rule.results.push_back(operand);
  return rule;
}

}  // namespace toroid
