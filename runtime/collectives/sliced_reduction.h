// A reduction over ranks that have one member of the group each: rank j folds slice j of the elements.
//
// Every rank sends slice j of its row to rank j, which folds the slices of all members in group order; an
// all-reduce then sends the folded slices to all. With R ranks and rows of S bytes each rank sends (R-1)/R *
// S bytes for a reduce-scatter and twice as many for an all-reduce, as a ring does, and all ranks work all
// the time.
//   all-reduce of f32[8] over 4 ranks: rank 1 folds elements 2 and 3 of all four rows.
// Slices move in chunks, so that a chunk is folded while it is in the cache.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/collectives/exchange.h"
#include "runtime/collectives/fold.h"
#include "runtime/collectives/scattered_blocks.h"

namespace toroid {

// Whether no rank has two members of a group.
bool OneMemberPerRank(const Ranks& ranks, const std::vector<std::vector<int64_t>>& groups);

// Reduces the rows of a group of two or more members. `row` is this rank's row, `result` its result row: with
// `blocks` the member's block, else the total. Every rank of the group calls it; ranks in several groups take
// the groups in the same order. Errors: those of to_apply and of the transport, kResourceExhausted.
absl::Status ReduceInSlices(const OpCall& call, const Ranks& ranks, const std::vector<int64_t>& group,
                            const ScatteredBlocks* blocks, const char* row, Fold* fold, char* result);

}  // namespace toroid
