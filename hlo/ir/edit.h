// Changing a computation that is there: other operands for users, instructions in between, pieces of another
// computation.
//
// New instructions are appended (Computation::Add) and used by ones that stand before them; SortInstructions
// then puts every operand before its users again and leaves the rest in order. Instructions that nothing
// needs any more are dropped by EliminateDeadCode (hlo/passes/dce_pass.h).
// Example, a copy behind x: c = computation->Add(kCopy, ..., {x}); ReplaceUses(x, c) but in c;
// SortInstructions.
#ifndef TOROID_HLO_IR_EDIT_H_
#define TOROID_HLO_IR_EDIT_H_

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

// Operands, control predecessors and the root of the computation that are `old` become `now`, which itself
// keeps its operands. Takes time in proportion to the computation; many at once: the other form.
void ReplaceUses(const Instruction* old, Instruction* now);

// The same for every instruction whose entry in `now`, by index, is not null. Entries are not followed
// further, and instructions that are entries themselves keep their operands.
void ReplaceUses(Computation* computation, absl::Span<Instruction* const> now);

// Puts operands and control predecessors before their users: an instruction stays where it is, or goes in
// front of its first user. A list that is in order is left alone.
// Errors: kInternal "computation/instruction: ..." if instructions use each other in a circle.
absl::Status SortInstructions(Computation* computation);

// What becomes of one instruction in a copy of its computation. `operands`: what became of its operands; the
// step may change them.
using CloneStep = absl::FunctionRef<absl::StatusOr<Instruction*>(const Instruction& instruction,
                                                                 std::vector<Instruction*>* operands)>;

// The walk of everything that copies a computation, changed or not: `step` for each instruction, in order.
// Returns what became of each, by index; null where the step says so, which no later operand may be. Control
// predecessors: CloneControlPredecessors.
// Errors: the first one of the step.
// Example, sharding annotations left out:
//   CloneInstructions(from, [&](const Instruction& i, std::vector<Instruction*>* operands) {
//     return IsShardingAnnotation(i) ? operands->front() : to->AddClone(i, i.shape(), *operands);
//   });
absl::StatusOr<std::vector<Instruction*>> CloneInstructions(const Computation& from, CloneStep step);

// Gives what became of instructions the control predecessors that these have, where something became of both.
void CloneControlPredecessors(const Computation& from, absl::Span<Instruction* const> map);

// Appends copies of the instructions of `from` marked in `keep` (by index; empty: all) and returns what
// became of each, by index. Parameters become `arguments`, by number, or, where those are empty, parameters
// of `to`. Names, shardings, metadata and control predecessors are kept; called computations are those of
// `from`, which therefore must be of the same module or one that shares its computations.
std::vector<Instruction*> CloneInstructions(const Computation& from, absl::Span<Instruction* const> arguments,
                                            Computation* to, const std::vector<bool>& keep = {});

// Every computation that the instruction calls becomes what `now` says.
void ReplaceCalled(Instruction* instruction, absl::FunctionRef<Computation*(const Computation*)> now);

// A module like this one in everything but where it stands. Attributes are shared, as everywhere.
std::unique_ptr<Module> CloneModule(const Module& module);

}  // namespace toroid

#endif  // TOROID_HLO_IR_EDIT_H_
