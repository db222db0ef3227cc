// Ops whose windows are addressed by index vectors.
//
// On a cut indexed dimension, start indices are first clamped against the global dimension, then counted from
// the shard's first row. A partition contributes the elements that it holds and zeros elsewhere; the sum of
// all contributions is the result.
//
// `gather`: operand dimensions that windows span share factors with offset dimensions of the result. Batch dimensions of the
// indices share factors with the other dimensions of the result, and with the operand too if they are batching dimensions or if
// an index component counts rows along them (CountAgain). An operand dimension from which single elements are picked is
// indexed.
//
// On a cut indexed dimension every device contributes the elements that it holds and zeros for the others;
// the result is partial.
//
// `scatter`: n operands, indices, n updates. Dimensions that windows span pass through. Batch dimensions of
// indices and updates are reduction factors if one known reducer (sum, product, maximum, minimum, and, or)
// combines updates with rows. They pass through if they are batching dimensions or if an index component
// counts rows along them (CountAgain). Inserted dimensions are indexed.
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
#include "partitioner/ops/op_families.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {
namespace {

// The dimensions of a gather or scatter. Its windows (the result, or the updates) are addressed by index
// vectors in an array (operand 0).
struct IndexedDims {
  const Shape& array;
  const Instruction& indices;
  const Shape& windows;
  int64_t vector_dim;                        // Of the indices.
  absl::Span<const int64_t> map;             // By component of an index vector: the dimension of the array.
  absl::Span<const int64_t> window_dims;     // Of the windows; the others are those of the indices, in order.
  absl::Span<const int64_t> single_rows;     // Dimensions of the array that windows lack.
  absl::Span<const int64_t> array_batching;  // The same, each paired with one of the indices.
  absl::Span<const int64_t> indices_batching;
};
struct IndexedFactors {
  TensorFactors array, indices, windows;
};

// The dimension of the array whose row i is met only by row i of dimension `batch` of the indices; -1: none.
int PairedDim(const IndexedDims& dims, int batch) {
  const auto pair = absl::c_find(dims.indices_batching, batch);
  if (pair != dims.indices_batching.end()) {
    return static_cast<int>(dims.array_batching[pair - dims.indices_batching.begin()]);
  }
  for (int k = 0; k < static_cast<int>(dims.map.size()); ++k) {
    const int d = static_cast<int>(dims.map[k]);
    if (!absl::c_linear_search(dims.single_rows, d)) continue;
    const auto counted = PositionDim(dims.indices, static_cast<int>(dims.vector_dim), k, dims.array.dim(d));
    if (counted == batch) return d;
  }
  return -1;
}

// Adds the factors to `rule`: window dimensions that span the array pass through. Dimensions of the indices
// pass through if row i meets only row i of an array's dimension, and have `batch_kind` otherwise.
IndexedFactors AddIndexedFactors(const IndexedDims& dims, FactorKind batch_kind, ShardingRule* rule) {
  const Shape& array = dims.array;
  const Shape& indices = dims.indices.shape();
  IndexedFactors factors = {TensorFactors(array.rank()), TensorFactors(indices.rank()),
                            TensorFactors(dims.windows.rank())};
  int batch = 0, kept = 0;  // The next dimension of the indices and of the array that the windows have.
  for (int d = 0; d < dims.windows.rank(); ++d) {
    if (absl::c_linear_search(dims.window_dims, d)) {
      while (absl::c_linear_search(dims.single_rows, kept) ||
             absl::c_linear_search(dims.array_batching, kept))
        ++kept;
      if (dims.windows.dim(d) == array.dim(kept)) {
        factors.array[kept] = factors.windows[d] = rule->AddFactor(array.dim(kept));
      }
      ++kept;
      continue;
    }
    if (batch == dims.vector_dim) ++batch;
    const int pair = PairedDim(dims, batch);
    factors.indices[batch] = factors.windows[d] =
        rule->AddFactor(indices.dim(batch), pair >= 0 ? FactorKind::kPassThrough : batch_kind);
    if (pair >= 0) factors.array[pair] = factors.windows[d];
    ++batch;
  }
  // A dimension that windows lack and no index addresses is met at row 0: it is never cut.
  for (const int64_t d : dims.single_rows) {
    if (factors.array[d].size == 0 && absl::c_linear_search(dims.map, d)) {
      factors.array[d] = rule->AddFactor(array.dim(d), FactorKind::kIndexed);
    }
  }
  return factors;
}

// `indices` with component k of the index vectors along `vector_dim` replaced by `component`.
Instruction* ReplaceComponent(SpmdBuilder& b, Instruction* indices, int vector_dim, int k,
                              Instruction* component) {
  const int64_t components = indices->shape().dim(vector_dim);
  std::vector<Instruction*> pieces;
  if (k > 0) pieces.push_back(b.SliceAlong(indices, vector_dim, 0, k));
  pieces.push_back(component);
  if (k + 1 < components) pieces.push_back(b.SliceAlong(indices, vector_dim, k + 1, components));
  return b.Concatenate(pieces, vector_dim);
}

// `indices` with component k replaced by the local row number along `dim`. For a component that counts rows
// along `dim` of an operand that is cut like the indices.
Instruction* CountAgain(SpmdBuilder& b, Instruction* indices, int vector_dim, int k, int dim) {
  Dims dims(indices->shape().dims().begin(), indices->shape().dims().end());
  const bool scalar_indices = vector_dim == static_cast<int>(dims.size());
  if (!scalar_indices) dims[vector_dim] = 1;
  Instruction* rows = b.Iota(indices->shape().element_type(), dims, dim);
  return scalar_indices ? rows : ReplaceComponent(b, indices, vector_dim, k, rows);
}

ShardingRule GatherShardingRule(const Instruction& op) {
  const GatherView numbers(op);
  ShardingRule rule;
  const IndexedFactors factors =
      AddIndexedFactors({.array = op.operand(0)->shape(),
                         .indices = *op.operand(1),
                         .windows = op.shape(),
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

std::vector<Instruction*> PartitionGather(OpContext& context) {
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
    if (context.KindOf(0, d) == FactorKind::kPassThrough) {
      indices = CountAgain(b, indices, vector_dim, k,
                           *PositionDim(*context.op->operand(1), vector_dim, k, from.dim(d)));
      continue;
    }
    const int64_t shard = operand->shape().dim(d);
    Instruction* component = indices;
    if (!scalar_indices) component = b.SliceAlong(component, vector_dim, k, k + 1);
    Instruction* clamped = b.ClampedStart(component, from.dim(d), 1);
    const auto dims = component->shape().dims();
    Instruction* local =
        b.Subtract(clamped, b.Broadcast(b.Offset(context.AxesOf(0, d), shard, xla::S64), dims));
    Instruction* in = b.And(b.Compare(local, b.Broadcast(b.IntScalar(0, xla::S64), dims), "GE"),
                            b.Compare(local, b.Broadcast(b.IntScalar(shard, xla::S64), dims), "LT"));
    in = b.Reshape(in, batch);
    mask = mask == nullptr ? in : b.And(mask, in);
    // The gather clamps indices outside of the shard; the mask drops the elements that it reads for them.
    Instruction* wide = b.ToS64(indices);
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

ShardingRule ScatterShardingRule(const Instruction& op) {
  const ScatterView numbers(op);
  const int n = op.num_operands() / 2;
  const std::optional<Reducer> reducer = ReducerOf(op);
  ShardingRule rule;
  rule.reducer = reducer.value_or(Reducer::kAdd);
  // Updates may be smaller than the partial results that cutting them gives.
  rule.weighs_gathering = true;
  const FactorKind batch_kind = reducer.has_value() ? FactorKind::kReduction : FactorKind::kNeedsReplication;
  const IndexedFactors factors = AddIndexedFactors({.array = op.operand(0)->shape(),
                                                    .indices = *op.operand(n),
                                                    .windows = op.operand(n + 1)->shape(),
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

std::vector<Instruction*> PartitionScatter(OpContext& context) {
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
    if (window || !context.IsCut(n + 1, d) || context.KindOf(n + 1, d) != FactorKind::kReduction) continue;
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
    if (context.KindOf(0, d) == FactorKind::kPassThrough) {
      indices = CountAgain(b, indices, vector_dim, k,
                           *PositionDim(*context.op->operand(n), vector_dim, k, to.dim(d)));
      continue;
    }
    const int64_t shard = CeilOfRatio(to.dim(d), b.mesh().Product(context.AxesOf(0, d)));
    Instruction* wide = b.ToS64(indices);
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

const OpFamily families::kGather = {GatherShardingRule, PartitionGather};
const OpFamily families::kScatter = {ScatterShardingRule, PartitionScatter};

}  // namespace toroid
