// Ops that read through slices: rolls and shifts.
//
// A concatenate of slices of one array, and a pad of a slice, only move rows of that array. Their local programs fetch
// what they need of it at once, instead of what the slices need and then what they need of the slices.
// So do a few rows that are put beside their array, at edges that wrap round or repeat.
// Example: y = concatenate(x[7:8], x[0:7]) rolls x by one row. Over 8 devices each tile reads one row of x from its
// neighbour: one collective-permute. By way of the slices it would be two.
#ifndef TOROID_PARTITIONER_OPS_READ_THROUGH_H_
#define TOROID_PARTITIONER_OPS_READ_THROUGH_H_

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// The array of which a concatenate or pad reads operand k: behind a slice, if slices with steps of 1 take most of
// that array together; the operand itself otherwise. Shardings play no part: all stages see the same.
const Instruction& ConcatenateSource(const Instruction& op, int k);
const Instruction& PadSource(const Instruction& op, int k);

// The rows [start, limit) of that array that operand `k`, read from `source`, has along a dimension.
SliceBounds RowsOfSource(const Instruction& op, int k, const Instruction& source, int dim);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_READ_THROUGH_H_
