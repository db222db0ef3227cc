// Putting new instructions in the place of old ones, in a whole computation at once.
#ifndef TOROID_HLO_IR_REPLACE_INSTRUCTIONS_H_
#define TOROID_HLO_IR_REPLACE_INSTRUCTIONS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

// Whatever used an old instruction uses now[its index], where that is not null; operands stand before their
// users again. The old instructions are the first now.size() of the computation; the others were appended for
// this, and may use old ones too, in whose place they get the new ones. A new instruction stands where the
// first one stood that it or a user of it replaces, or as soon behind as its operands allow. Old instructions
// stay, unused, for EliminateDeadCode.
// Errors: those of SortInstructions.
absl::Status ReplaceInstructions(Computation* computation, absl::Span<Instruction* const> now);

// The same, and the old instructions are gone, but for those that others wait for by control.
absl::Status ReplaceAndDrop(Computation* computation, absl::Span<Instruction* const> now);

// Replaces each instruction of a module for which `make` gives another one, appended to its computation;
// null: it stays. Computations that `make` adds are not visited. Whether there was any.
// Errors: those of `make` and of SortInstructions.
absl::StatusOr<bool> ReplaceEach(Module* module,
                                 absl::FunctionRef<absl::StatusOr<Instruction*>(Instruction* op)> make);

}  // namespace toroid

#endif  // TOROID_HLO_IR_REPLACE_INSTRUCTIONS_H_
