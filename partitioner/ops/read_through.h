// Ops that read through slices: rolls and shifts.
//
// A concatenate of slices of one array, and a pad of a slice, only move rows of that array. Their local
// programs fetch rows of the array itself in one exchange. Otherwise the slices would be computed by one
// exchange, and the concatenate or pad of them by another. The same holds for a concatenate of an array and a
// few of its own rows, which extends the array at edges that wrap round or repeat.
//
// Example: y = concatenate(x[7:8], x[0:7]) rolls x by one row. Over 8 devices each tile reads one row of x
//          from its neighbour: one collective-permute. By way of the slices there would be two.
#pragma once

#include "hlo/ir/attribute_views.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// The array that a concatenate or pad reads in place of operand k: if the operand is a slice with strides of
// 1, and all such operands together take most of the sliced array, that array; otherwise the operand itself.
// Shardings do not influence the choice, so that all stages of the partitioner agree on it.
const Instruction& ConcatenateSource(const Instruction& op, int k);
const Instruction& PadSource(const Instruction& op, int k);

// The rows [start, limit) of `source` along `dim` that are the rows of operand `k`; `source` is the operand
// itself or the array that it is a slice of.
SliceBounds RowsOfSource(const Instruction& op, int k, const Instruction& source, int dim);

}  // namespace toroid
