// Helpers for ops that address an operand by computed indices: dynamic slices, gather, scatter.
//
// On a cut indexed dimension start indices are clamped against the full dimension first, then moved into the
// shard's coordinates; a partition contributes what it holds and zeros elsewhere, and the contributions add
// up.
#ifndef TOROID_PARTITIONER_OPS_START_INDICES_H_
#define TOROID_PARTITIONER_OPS_START_INDICES_H_

#include "absl/types/span.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// As s64; what u64 holds beyond the range of s64 becomes its largest value, which lies behind every array.
Instruction* ToS64(SpmdBuilder& b, Instruction* index);

// A start index clamped to [0, size - window], as s64.
Instruction* ClampedStart(SpmdBuilder& b, Instruction* index, int64_t size, int64_t window);

// `indices` with component k of their vectors, which lie along `vector_dim`, replaced by `component`.
Instruction* ReplaceComponent(SpmdBuilder& b, Instruction* indices, int vector_dim, int k,
                              Instruction* component);

// `indices` with component k, which counts along `dim`, counting the local rows instead.
Instruction* CountAgain(SpmdBuilder& b, Instruction* indices, int vector_dim, int k, int dim);

// Where `value` stands in a list of dimensions; -1: nowhere.
int IndexOf(absl::Span<const int64_t> list, int64_t value);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_START_INDICES_H_
