// sort: permutes every line along the dimension, all operands alike, so that to_apply(earlier, later) holds.
//
// Always stable. A comparator that is one compare of two elements of one operand sorts by native comparisons.
// Any other runs a merge sort that evaluates all comparisons of a round, over all lines, at once: an element
// finds its place in the neighbouring run by binary search.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteSort(OpCall& call);

// Bytes that a sort holds at its peak beside operands and results; `rows`: of each operand. The lists of a comparator without
// keys are not counted.
int64_t SortScratchBytes(const Instruction& sort, absl::Span<const int64_t> rows);

}  // namespace toroid
