// Helpers for ops that address an operand by computed indices: dynamic slices, gather, scatter.
//
// On a cut indexed dimension, start indices are first clamped against the global dimension, then counted from
// the shard's first row. A partition contributes the elements that it holds and zeros elsewhere; the sum of
// all contributions is the result.
#pragma once

#include "absl/types/span.h"
#include "partitioner/ops/sharding_rule.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// `index` as s64. u64 values beyond the range of s64 become its largest value, which is beyond the end of any
// array.
Instruction* ToS64(SpmdBuilder& b, Instruction* index);

// A start index clamped to [0, size - window], as s64.
Instruction* ClampedStart(SpmdBuilder& b, Instruction* index, int64_t size, int64_t window);

// `indices` with component k of the index vectors along `vector_dim` replaced by `component`.
Instruction* ReplaceComponent(SpmdBuilder& b, Instruction* indices, int vector_dim, int k,
                              Instruction* component);

// `indices` with component k replaced by the local row number along `dim`. For a component that counts rows
// along `dim` of an operand that is cut like the indices.
Instruction* CountAgain(SpmdBuilder& b, Instruction* indices, int vector_dim, int k, int dim);

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
// Adds the factors to `rule`: window dimensions that span the array pass through. Dimensions of the indices
// pass through if row i meets only row i of an array's dimension, and have `batch_kind` otherwise.
IndexedFactors AddIndexedFactors(const IndexedDims& dims, FactorKind batch_kind, ShardingRule* rule);

}  // namespace toroid
