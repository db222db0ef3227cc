// Edits an existing computation: replaces operands, inserts instructions, copies parts of other computations.
//
// A caller appends new instructions (Computation::Add) and makes earlier ones use them. SortInstructions then
// puts every operand before its users and keeps the order otherwise. EliminateDeadCode
// (hlo/passes/dce_pass.h) drops instructions that have become unused.
// Example: insert a copy of x: c = computation->Add(kCopy, ..., {x}); ReplaceUses(x, c); SortInstructions.
#pragma once

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

// Replaces `old` by `now` as operand, control predecessor and root in the computation. The operands of `now`
// itself stay. Takes time proportional to the computation's size; use the other form for many replacements.
void ReplaceUses(const Instruction* old, Instruction* now);

// Replaces every instruction whose entry in `now` (by index) is not null by that entry. Entries are not
// replaced in turn, and the operands of instructions that are entries stay.
void ReplaceUses(Computation* computation, absl::Span<Instruction* const> now);

// Puts operands and control predecessors before their users. An instruction stays where it is or moves in
// front of its first user.
// Errors: kInternal "computation/instruction: ..." if the dependencies have a cycle.
absl::Status SortInstructions(Computation* computation);

// Copies one instruction: returns the instruction's replacement in the copy of its computation. `operands`:
// the replacements of its operands; the step may change them.
using CloneStep = absl::FunctionRef<absl::StatusOr<Instruction*>(const Instruction& instruction,
                                                                 std::vector<Instruction*>* operands)>;

// Calls `step` for each instruction of `from`, in order, and returns the replacements, by index. This is the
// walk behind every copy of a computation. A replacement may be null if no later step uses it as an operand.
// Control predecessors are not copied: see CloneControlPredecessors.
// Errors: the first error of `step`.
// Example: a copy without sharding annotations:
//   CloneInstructions(from, [&](const Instruction& i, std::vector<Instruction*>* operands) {
//     return IsShardingAnnotation(i) ? operands->front() : to->AddClone(i, i.shape(), *operands);
//   });
absl::StatusOr<std::vector<Instruction*>> CloneInstructions(const Computation& from, CloneStep step);

// Copies control dependencies of `from` to the replacements in `map`, wherever both instructions have one.
void CloneControlPredecessors(const Computation& from, absl::Span<Instruction* const> map);

// Appends copies of the instructions of `from` marked in `keep` (by index; empty: all) to `to` and returns
// them, by index. Parameters are replaced by `arguments`, by number, or, if that is empty, become parameters
// of `to`. The copies keep names, shardings, metadata, control predecessors and callees. Requires: `to` is in
// the same module as `from`, or in one that shares its computations.
std::vector<Instruction*> CloneInstructions(const Computation& from, absl::Span<Instruction* const> arguments,
                                            Computation* to, const std::vector<bool>& keep = {});

// Replaces every callee of the instruction by now(callee).
void ReplaceCalled(Instruction* instruction, absl::FunctionRef<Computation*(const Computation*)> now);

// A copy of the module. Its instructions point to the attributes of the original's instructions.
std::unique_ptr<Module> CloneModule(const Module& module);

}  // namespace toroid
