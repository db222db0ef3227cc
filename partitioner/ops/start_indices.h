// Helpers for ops that address an operand by computed indices: dynamic slices, gather, scatter.
//
// On a cut indexed dimension, start indices are first clamped against the global dimension, then counted from
// the shard's first row. A partition contributes the elements that it holds and zeros elsewhere; the sum of
// all contributions is the result.
#ifndef TOROID_PARTITIONER_OPS_START_INDICES_H_
#define TOROID_PARTITIONER_OPS_START_INDICES_H_

#include "absl/types/span.h"
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

// The position of `value` in `list`; -1 if it is not there.
int IndexOf(absl::Span<const int64_t> list, int64_t value);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_START_INDICES_H_
