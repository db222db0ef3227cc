// Putting new instructions in the place of old ones, in a whole computation at once.
#ifndef TOROID_HLO_IR_REPLACE_INSTRUCTIONS_H_
#define TOROID_HLO_IR_REPLACE_INSTRUCTIONS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

// Whatever used an old instruction uses now[its index], where that is not null; operands stand before their users again. The
// old instructions are the first now.size() of the computation; the others were appended for this, and may use old ones too,
// in whose place they get the new ones. A new instruction stands where the first one stood that it or a user of it replaces, or
// as soon behind as its operands allow. Old instructions stay, unused, for EliminateDeadCode.
// Errors: those of SortInstructions.
absl::Status ReplaceInstructions(Computation* computation, absl::Span<Instruction* const> now);

// The same, and the old instructions are gone, but for those that others wait for by control.
absl::Status ReplaceAndDrop(Computation* computation, absl::Span<Instruction* const> now);

}  // namespace toroid

#endif  // TOROID_HLO_IR_REPLACE_INSTRUCTIONS_H_
