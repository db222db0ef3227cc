// sort: permutes every line along the dimension, all operands alike, so that to_apply(earlier, later) holds.
//
// Always stable. A comparator that is one compare of two elements of one operand sorts by native comparisons.
// Any other runs a merge sort that evaluates all comparisons of a round, over all lines, at once: an element
// finds its place in the neighbouring run by binary search.
#pragma once

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

absl::Status ExecuteSort(OpCall& call);

}  // namespace toroid
