#include "partitioner/ops/scatter.h"

#include "absl/algorithm/container.h"
#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/start_indices.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {

ShardingRule ScatterShardingRule(const Instruction& instruction) {
  const ScatterView numbers(instruction);
  const int n = instruction.num_operands() / 2;
  const Shape& to = instruction.operand(0)->shape();
  const Shape& indices_shape = instruction.operand(n)->shape();
  const Shape& updates_shape = instruction.operand(n + 1)->shape();
  const std::optional<Reducer> reducer = n == 1 ? ClassifyReducer(*instruction.called(0)) : std::nullopt;
  ShardingRule rule;
  rule.reducer = reducer.value_or(Reducer::kAdd);
  const FactorKind batch_kind = reducer == Reducer::kAdd ? FactorKind::kReduction : FactorKind::kNeedsReplication;
  TensorFactors operand(to.rank()), indices(indices_shape.rank()), updates(updates_shape.rank());

  std::vector<int> batch_dims, window_dims;
  for (int d = 0; d < indices_shape.rank(); ++d) {
    if (d != numbers.index_vector_dim()) batch_dims.push_back(d);
  }
  for (int d = 0; d < to.rank(); ++d) {
    if (!absl::c_linear_search(numbers.inserted_window_dims(), d) &&
        !absl::c_linear_search(numbers.operand_batching_dims(), d)) {
      window_dims.push_back(d);
    }
  }
  size_t next_batch = 0, next_window = 0;
  for (int d = 0; d < updates_shape.rank(); ++d) {
    if (absl::c_linear_search(numbers.update_window_dims(), d)) {
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
    if (absl::c_linear_search(numbers.scatter_dims_to_operand_dims(), d)) {
      operand[d] = rule.AddFactor(to.dim(d), FactorKind::kIndexed);
    }
  }
  for (int i = 0; i < n; ++i) rule.operands.push_back(operand);
  rule.operands.push_back(indices);
  for (int i = 0; i < n; ++i) rule.operands.push_back(updates);
  for (int i = 0; i < n; ++i) rule.results.push_back(operand);
  return rule;
}

absl::StatusOr<std::vector<Instruction*>> PartitionScatter(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const ScatterView numbers(*context.op);
  const int n = context.op->num_operands() / 2;
  const Shape& to = context.op->operand(0)->shape();
  Instruction*& indices = context.operands[n];
  const int vector_dim = numbers.index_vector_dim();
  const bool scalar_indices = vector_dim == indices->shape().rank();
  // Padding of cut batch dimensions adds zeros, wherever its indices point.
  bool partial = false;
  const Shape& updates_shape = context.op->operand(n + 1)->shape();
  for (int d = 0; d < updates_shape.rank(); ++d) {
    const bool window = absl::c_linear_search(numbers.update_window_dims(), d);
    const FactorKind kind = window || !context.IsCut(n + 1, d)
                                ? FactorKind::kPassThrough
                                : context.rule->factors[context.rule->operands[n + 1][d].factor[0]].kind;
    if (kind != FactorKind::kReduction) continue;
    partial = true;
    Instruction*& updates = context.operands[n + 1];
    updates = b.MaskPadding(updates, d, updates_shape.dim(d), context.AxesOf(n + 1, d),
                            b.Zero(updates->shape().element_type()));
  }
  // Indices into cut dimensions move into the shard; those of other shards fall outside and are dropped.
  for (int k = 0; k < static_cast<int>(numbers.scatter_dims_to_operand_dims().size()); ++k) {
    const int64_t d = numbers.scatter_dims_to_operand_dims()[k];
    const bool inserted = absl::c_linear_search(numbers.inserted_window_dims(), d);
    if (!inserted || !context.IsCut(0, d)) continue;
    const int64_t shard = CeilOfRatio(to.dim(d), b.mesh().Product(context.AxesOf(0, d)));
    Instruction* wide = ToS64(b, indices);
    Instruction* component = scalar_indices ? wide : b.SliceAlong(wide, vector_dim, k, k + 1);
    const auto dims = component->shape().dims();
    Instruction* offset = b.Broadcast(b.Offset(context.AxesOf(0, d), shard, xla::S64), dims);
    Instruction* local = b.Binary(Opcode::kSubtract, component, offset);
    // What lies past the global end may fall into the padding of the last shard, which nobody reads.
    indices = scalar_indices ? local : ReplaceComponent(b, wide, vector_dim, k, local);
  }
  if (!partial) return context.CloneLocal();
  // Each partition scatters its updates onto zeros; the operand enters once, after the sum.
  Instruction* operand = context.operands[0];
  context.operands[0] = b.Broadcast(b.Zero(operand->shape().element_type()), operand->shape().dims());
  std::vector<Instruction*> result = context.CloneLocal();
  if (context.results[0].partial != 0) {
    const AxisList axes = b.mesh().InOrder(context.results[0].partial);
    // Only the first partition of the group adds the operand.
    Instruction* first = b.Compare(b.Coordinate(axes), b.IntScalar(0), "EQ");
    operand = b.Select(b.Broadcast(first, operand->shape().dims()), operand, context.operands[0]);
  }
  result[0] = b.Binary(Opcode::kAdd, result[0], operand);
  return result;
}

}  // namespace toroid
