// Kinds of groups, for summaries.
#ifndef TOROID_SIMULATOR_CHIP_GROUP_CLASS_H_
#define TOROID_SIMULATOR_CHIP_GROUP_CLASS_H_

#include "absl/strings/string_view.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// By the heaviest op in it:
//   "dot"     a product of matrices or convolution
//   "cumsum"  windows
//   "reduce"  a reduction
//   "copy"    a copy or transpose alone
//   "loop"    all else that takes time
absl::string_view GroupClassOf(const Instruction& group);

}  // namespace toroid

#endif  // TOROID_SIMULATOR_CHIP_GROUP_CLASS_H_
