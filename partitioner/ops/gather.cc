// `gather`: operand dimensions that windows span share factors with offset dimensions of the result. Batch
// dimensions of the indices share factors with the other dimensions of the result, and with the operand too
// if they are batching dimensions or if an index component counts rows along them (CountAgain in
// start_indices.h). An operand dimension from which single elements are picked is indexed.
//
// On a cut indexed dimension every device contributes the elements that it holds and zeros for the others;
// the result is partial.
#include "absl/algorithm/container.h"
#include "hlo/analysis/index_position.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_family.h"
#include "partitioner/ops/start_indices.h"

namespace toroid {
namespace {

ShardingRule GatherShardingRule(const Instruction& instruction) {
  const GatherView numbers(instruction);
  ShardingRule rule;
  const IndexedFactors factors =
      AddIndexedFactors({.array = instruction.operand(0)->shape(),
                         .indices = *instruction.operand(1),
                         .windows = instruction.shape(),
                         .vector_dim = numbers.index_vector_dim(),
                         .map = numbers.start_index_map(),
                         .window_dims = numbers.offset_dims(),
                         .single_rows = numbers.collapsed_slice_dims(),
                         .array_batching = numbers.operand_batching_dims(),
                         .indices_batching = numbers.start_indices_batching_dims()},
                        FactorKind::kPassThrough, &rule);
  rule.operands = {factors.array, factors.indices};
  rule.results.push_back(factors.windows);
  rule.indexed_is_partial = true;
  rule.AddMoved(0b1);
  return rule;
}

absl::StatusOr<std::vector<Instruction*>> PartitionGather(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const GatherView numbers(*context.op);
  const Shape& from = context.op->operand(0)->shape();
  xla::HloInstructionProto* attrs = b.module()->New(context.op->attrs());
  Instruction* operand = context.operands[0];
  Instruction*& indices = context.operands[1];
  // Windows that span a global dimension span the local one.
  for (int d = 0; d < from.rank(); ++d) {
    if (numbers.slice_sizes()[d] == from.dim(d) && from.dim(d) != 1) {
      GatherView::SetSliceSize(attrs, d, operand->shape().dim(d));
    }
  }
  // Over the indices without the index vector: true where this device holds the element.
  Instruction* mask = nullptr;
  const int vector_dim = numbers.index_vector_dim();
  const bool scalar_indices = vector_dim == indices->shape().rank();
  Dims batch;
  for (int d = 0; d < indices->shape().rank(); ++d) {
    if (d != vector_dim) batch.push_back(indices->shape().dim(d));
  }
  for (int k = 0; k < static_cast<int>(numbers.start_index_map().size()); ++k) {
    const int64_t d = numbers.start_index_map()[k];
    const bool collapsed = absl::c_linear_search(numbers.collapsed_slice_dims(), d);
    if (!collapsed || !context.IsCut(0, d)) continue;
    if (context.rule->factors[context.rule->operands[0][d].factor[0]].kind == FactorKind::kPassThrough) {
      indices = CountAgain(b, indices, vector_dim, k,
                           *PositionDim(*context.op->operand(1), vector_dim, k, from.dim(d)));
      continue;
    }
    const int64_t shard = operand->shape().dim(d);
    Instruction* component = indices;
    if (!scalar_indices) component = b.SliceAlong(component, vector_dim, k, k + 1);
    Instruction* clamped = ClampedStart(b, component, from.dim(d), 1);
    const auto dims = component->shape().dims();
    Instruction* local =
        b.Subtract(clamped, b.Broadcast(b.Offset(context.AxesOf(0, d), shard, xla::S64), dims));
    Instruction* in = b.And(b.Compare(local, b.Broadcast(b.IntScalar(0, xla::S64), dims), "GE"),
                            b.Compare(local, b.Broadcast(b.IntScalar(shard, xla::S64), dims), "LT"));
    in = b.Reshape(in, batch);
    mask = mask == nullptr ? in : b.And(mask, in);
    // The gather clamps indices outside of the shard; the mask drops the elements that it reads for them.
    Instruction* wide = ToS64(b, indices);
    indices = scalar_indices ? local : ReplaceComponent(b, wide, vector_dim, k, local);
  }
  std::vector<Instruction*> result = context.CloneLocal(attrs);
  if (mask == nullptr) return result;
  // Batch dimensions of the result are those not in offset_dims, in order.
  const Dims out(result[0]->shape().dims().begin(), result[0]->shape().dims().end());
  Instruction* wide_mask = b.BroadcastOver(mask, out, numbers.offset_dims());
  result[0] = b.Select(wide_mask, result[0], b.Broadcast(b.Zero(result[0]->shape().element_type()), out));
  return result;
}

}  // namespace

const OpFamily families::kGather = {GatherShardingRule, PartitionGather};

}  // namespace toroid
