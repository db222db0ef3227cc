// The source-target pairs of a collective-permute, as a list or as a pattern.
//
// HLO lists a pair for each device that receives. In memory, attrs().permute_pattern() may replace the list,
// so that neither the memory of a permute nor the time to make, copy or compare one grows with the number of
// devices. (Iota lists do the same for groups.) Code that needs pairs calls the functions below; files hold
// the list.
//
//   place p = (p_0, p_1, ..) along `sizes`, row-major; as a source device  sum of p_k source_strides[k],
//                                                     as a target device  sum of p_k target_strides[k]
//   line: places source + j source_step send to places target + j target_step, 0 <= j < count
//   shared: every pair occurs at all places along shared_sizes, whose devices are added to both
//
// Example: sizes [4], strides [2], the line {3, 0, 1, 1, 1}, shared [2] at [1]:
// {0,2},{1,3},{2,4},{3,5},{4,6},{5,7}, which send to the next of four rows of two devices.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {

// Visits the pairs line by line, and each line along shared_sizes.
void ForEachPair(const xla::PermutePattern& pattern,
                 absl::FunctionRef<void(int64_t source, int64_t target)> visit);

// The pairs, whether they are given as a list or as a pattern.
std::vector<std::pair<int64_t, int64_t>> SourceTargetPairs(const xla::HloInstructionProto& attrs);
int64_t NumPairs(const xla::HloInstructionProto& attrs);

// Replaces a pattern by its pairs.
void SpellOutPairs(xla::HloInstructionProto* attrs);

// True if no device is the source of pairs of both, nor the target of pairs of both.
bool ArePairsApart(const xla::HloInstructionProto& a, const xla::HloInstructionProto& b);
// Adds the pairs of `from` to those of `to`. Requires: ArePairsApart.
void AppendPairs(const xla::HloInstructionProto& from, xla::HloInstructionProto* to);

}  // namespace toroid
