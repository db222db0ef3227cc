#include "partitioner/ops/start_indices.h"

#include "absl/algorithm/container.h"
#include "hlo/analysis/index_position.h"

namespace toroid {
namespace {

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

}  // namespace

Instruction* CountAgain(SpmdBuilder& b, Instruction* indices, int vector_dim, int k, int dim) {
  Dims dims(indices->shape().dims().begin(), indices->shape().dims().end());
  const bool scalar_indices = vector_dim == static_cast<int>(dims.size());
  if (!scalar_indices) dims[vector_dim] = 1;
  Instruction* rows = b.Iota(indices->shape().element_type(), dims, dim);
  return scalar_indices ? rows : ReplaceComponent(b, indices, vector_dim, k, rows);
}

Instruction* ToS64(SpmdBuilder& b, Instruction* index) {
  if (index->shape().element_type() == xla::U64) {
    Instruction* top = b.Broadcast(b.IntScalar(INT64_MAX, xla::U64), index->shape().dims());
    index = b.Minimum(index, top);
  }
  return b.Convert(index, xla::S64);
}

Instruction* ClampedStart(SpmdBuilder& b, Instruction* index, int64_t size, int64_t window) {
  Instruction* wide = ToS64(b, index);
  const auto dims = index->shape().dims();
  wide = b.Maximum(wide, b.Broadcast(b.IntScalar(0, xla::S64), dims));
  return b.Minimum(wide, b.Broadcast(b.IntScalar(size - window, xla::S64), dims));
}

Instruction* ReplaceComponent(SpmdBuilder& b, Instruction* indices, int vector_dim, int k,
                              Instruction* component) {
  const int64_t components = indices->shape().dim(vector_dim);
  std::vector<Instruction*> pieces;
  if (k > 0) pieces.push_back(b.SliceAlong(indices, vector_dim, 0, k));
  pieces.push_back(component);
  if (k + 1 < components) pieces.push_back(b.SliceAlong(indices, vector_dim, k + 1, components));
  return b.Concatenate(pieces, vector_dim);
}

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

}  // namespace toroid
