// Changing a computation that is there: other operands for users, instructions in between, pieces of another
// computation.
//
// New instructions are appended (Computation::Add) and used by ones that stand before them; SortInstructions then puts
// every operand before its users again and leaves the rest in order. Instructions that nothing needs any more are
// dropped by EliminateDeadCode (hlo/passes/dce_pass.h).
// Example, a copy behind x: c = computation->Add(kCopy, ..., {x}); ReplaceUses(x, c) but in c; SortInstructions.
#ifndef TOROID_HLO_IR_EDIT_H_
#define TOROID_HLO_IR_EDIT_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

// Operands, control predecessors and the root of the computation that are `old` become `now`, which itself keeps its
// operands. Takes time in proportion to the computation; many at once: the other form.
void ReplaceUses(const Instruction* old, Instruction* now);

// The same for every instruction whose entry in `now`, by index, is not null. Entries are not followed further, and
// instructions that are entries themselves keep their operands.
void ReplaceUses(Computation* computation, absl::Span<Instruction* const> now);

// Puts operands and control predecessors before their users; of two orders that do, the one nearest to that of the list:
// always the first instruction that may come next.
// Errors: kInternal "computation/instruction: ..." if instructions use each other in a circle.
absl::Status SortInstructions(Computation* computation);

// Appends copies of the instructions of `from` marked in `keep` (by index; empty: all) and returns what became of each, by index. Parameters become `arguments`, by number, or, where those are
// empty, parameters of `to`. Names, shardings, metadata and control predecessors are kept; called computations are
// those of `from`, which therefore must be of the same module or one that shares its computations.
std::vector<Instruction*> CloneInstructions(const Computation& from, absl::Span<Instruction* const> arguments,
                                            Computation* to, const std::vector<bool>& keep = {});

}  // namespace toroid

#endif  // TOROID_HLO_IR_EDIT_H_
