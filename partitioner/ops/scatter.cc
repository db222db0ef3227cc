// `scatter`: n operands, indices, n updates. Dimensions that windows span pass through. Batch dimensions of
// indices and updates are reduction factors if one known reducer (sum, product, maximum, minimum, and, or)
// combines updates with rows. They pass through if they are batching dimensions or if an index component
// counts rows along them (CountAgain in start_indices.h). Inserted dimensions are indexed.
//
// On a cut indexed dimension every device drops the updates of other shards. If updates are cut, the result
// is partial, and each device scatters its own updates. Sums and products are scattered onto neutral
// elements, except that one device of the group also adds the operand. Other reducers scatter onto the
// operand itself, which may enter any number of times.
// Example: maxima of segments, s32[8,1] indices and f32[8] updates over 2 devices, into f32[3]: every device
//          has the maxima over 4 updates, and an all-reduce of 12 bytes by maximum gives those over all.
#include <optional>

#include "absl/algorithm/container.h"
#include "hlo/analysis/index_position.h"
#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_family.h"
#include "partitioner/ops/start_indices.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

// The reducer that combines updates with rows, if it is one known reducer for all operands.
std::optional<Reducer> ReducerOf(const Instruction& scatter) {
  const auto reducers = ClassifyReducers(*scatter.called(0));
  if (!reducers.has_value()) return std::nullopt;
  for (const Reducer reducer : *reducers) {
    if (reducer != reducers->front()) return std::nullopt;
  }
  return reducers->front();
}

// True if combining a row with itself leaves it unchanged.
bool IsIdempotent(Reducer reducer) { return reducer != Reducer::kAdd && reducer != Reducer::kMultiply; }

Instruction* Neutral(SpmdBuilder& b, Reducer reducer, const Instruction* like) {
  return b.Constant(NeutralElement(reducer, like->shape().element_type()));
}

ShardingRule ScatterShardingRule(const Instruction& instruction) {
  const ScatterView numbers(instruction);
  const int n = instruction.num_operands() / 2;
  const std::optional<Reducer> reducer = ReducerOf(instruction);
  ShardingRule rule;
  rule.reducer = reducer.value_or(Reducer::kAdd);
  // Updates may be smaller than the partial results that cutting them gives.
  rule.weighs_gathering = true;
  const FactorKind batch_kind = reducer.has_value() ? FactorKind::kReduction : FactorKind::kNeedsReplication;
  const IndexedFactors factors = AddIndexedFactors({.array = instruction.operand(0)->shape(),
                                                    .indices = *instruction.operand(n),
                                                    .windows = instruction.operand(n + 1)->shape(),
                                                    .vector_dim = numbers.index_vector_dim(),
                                                    .map = numbers.scatter_dims_to_operand_dims(),
                                                    .window_dims = numbers.update_window_dims(),
                                                    .single_rows = numbers.inserted_window_dims(),
                                                    .array_batching = numbers.operand_batching_dims(),
                                                    .indices_batching = numbers.indices_batching_dims()},
                                                   batch_kind, &rule);
  for (int i = 0; i < n; ++i) rule.operands.push_back(factors.array);
  rule.operands.push_back(factors.indices);
  for (int i = 0; i < n; ++i) rule.operands.push_back(factors.windows);
  for (int i = 0; i < n; ++i) rule.results.push_back(factors.array);
  // A scatter that adds is linear in operand and updates together.
  if (n == 1 && reducer == Reducer::kAdd) rule.linear.push_back({0b101});
  return rule;
}

absl::StatusOr<std::vector<Instruction*>> PartitionScatter(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const ScatterView numbers(*context.op);
  const int n = context.op->num_operands() / 2;
  const Shape& to = context.op->operand(0)->shape();
  const Reducer reducer = context.rule->reducer;
  Instruction*& indices = context.operands[n];
  const int vector_dim = numbers.index_vector_dim();
  const bool scalar_indices = vector_dim == indices->shape().rank();
  // Updates in the padding of cut batch dimensions become neutral, as their indices may point anywhere.
  AxisSet apart = 0;  // The axes over which devices have different updates for the same rows.
  const Shape& updates_shape = context.op->operand(n + 1)->shape();
  for (int d = 0; d < updates_shape.rank(); ++d) {
    const bool window = absl::c_linear_search(numbers.update_window_dims(), d);
    const FactorKind kind = window || !context.IsCut(n + 1, d)
                                ? FactorKind::kPassThrough
                                : context.rule->factors[context.rule->operands[n + 1][d].factor[0]].kind;
    if (kind != FactorKind::kReduction) continue;
    apart |= context.AxesOf(n + 1, d).Set();
    for (int i = n + 1; i <= 2 * n; ++i) {
      Instruction*& updates = context.operands[i];
      updates =
          b.MaskPadding(updates, d, updates_shape.dim(d), context.AxesOf(i, d), Neutral(b, reducer, updates));
    }
  }
  // Indices into cut dimensions are counted from the shard's first row. Indices into other shards are then out
  // of bounds, and scatter drops them.
  for (int k = 0; k < static_cast<int>(numbers.scatter_dims_to_operand_dims().size()); ++k) {
    const int64_t d = numbers.scatter_dims_to_operand_dims()[k];
    const bool inserted = absl::c_linear_search(numbers.inserted_window_dims(), d);
    if (!inserted || !context.IsCut(0, d)) continue;
    if (context.rule->factors[context.rule->operands[0][d].factor[0]].kind == FactorKind::kPassThrough) {
      indices = CountAgain(b, indices, vector_dim, k,
                           *PositionDim(*context.op->operand(n), vector_dim, k, to.dim(d)));
      continue;
    }
    const int64_t shard = CeilOfRatio(to.dim(d), b.mesh().Product(context.AxesOf(0, d)));
    Instruction* wide = ToS64(b, indices);
    Instruction* component = scalar_indices ? wide : b.SliceAlong(wide, vector_dim, k, k + 1);
    const auto dims = component->shape().dims();
    Instruction* offset = b.Broadcast(b.Offset(context.AxesOf(0, d), shard, xla::S64), dims);
    Instruction* local = b.Subtract(component, offset);
    // Indices beyond the global end may point into the padding of the last shard, which no op reads.
    indices = scalar_indices ? local : ReplaceComponent(b, wide, vector_dim, k, local);
  }
  if (apart == 0 || IsIdempotent(reducer)) return context.CloneLocal();
  // Each partition scatters its updates onto neutral elements. Only the first partition of the group combines
  // the operand with the result, so that it enters once.
  const std::vector<Instruction*> operands(context.operands.begin(), context.operands.begin() + n);
  std::vector<Instruction*> neutral;
  for (int i = 0; i < n; ++i) {
    neutral.push_back(b.Broadcast(Neutral(b, reducer, operands[i]), operands[i]->shape().dims()));
    context.operands[i] = neutral[i];
  }
  std::vector<Instruction*> result = context.CloneLocal();
  Instruction* first = b.Compare(b.Coordinate(b.mesh().InOrder(apart)), b.IntScalar(0), "EQ");
  for (int i = 0; i < n; ++i) {
    Instruction* once = b.Select(b.Broadcast(first, operands[i]->shape().dims()), operands[i], neutral[i]);
    result[i] = b.Binary(ReducerOpcode(reducer), result[i], once);
  }
  return result;
}

}  // namespace

const OpFamily families::kScatter = {ScatterShardingRule, PartitionScatter};

}  // namespace toroid
