// Replaces instructions by new ones, in a whole computation at once.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

// Replaces each old instruction i by now[i], unless that is null, and sorts the computation. The old
// instructions are the first now.size() ones of the computation. The caller appended the new ones; those may
// use old instructions, which are replaced in them too. A new instruction takes the place of the first old
// one that it, or a user of it, replaces, or the next place that its operands allow. Replaced instructions
// stay, unused, for EliminateDeadCode.
// Errors: those of SortInstructions.
absl::Status ReplaceInstructions(Computation* computation, absl::Span<Instruction* const> now);

// Like ReplaceInstructions, but also drops the replaced instructions, except control predecessors of others.
absl::Status ReplaceAndDrop(Computation* computation, absl::Span<Instruction* const> now);

// Replaces each instruction of a module by the one that `make` returns for it, appended to its computation;
// null: it stays. Computations added by `make` are not visited. Returns whether any was replaced.
// Errors: those of `make` and of SortInstructions.
absl::StatusOr<bool> ReplaceEach(Module* module,
                                 absl::FunctionRef<absl::StatusOr<Instruction*>(Instruction* op)> make);

}  // namespace toroid
