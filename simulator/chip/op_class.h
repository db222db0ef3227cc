// Which row of the breakdown an op of a lowered module counts to.
#pragma once

#include "absl/strings/string_view.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// Of a group of fused ops, the most telling of those inside: "dot" before "convolution", "sort", "gather", "scatter",
// "cumulative sum" (reduce-window), "reduce", "copy" (a group that moves data alone), "elementwise". Of a collective its kind;
// "custom-call", "host" for infeeds, outfeeds and transfers.
absl::string_view OpClassOf(const Instruction& instruction);

// The same in the five words in which Google's compiler's estimates are summed:
//   "dot"     a product of matrices or convolution, whatever else is in the group
//   "cumsum"  windows
//   "reduce"  a reduction
//   "copy"    a copy or transpose alone
//   "loop"    all else that takes time
absl::string_view GroupClassOf(const Instruction& group);

// The op that a row of a report is named after: of a group the one that gives it its class, of several products the one
// with most flops, of other ops the last; else the instruction itself.
const Instruction& MainOpOf(const Instruction& instruction);

}  // namespace toroid
