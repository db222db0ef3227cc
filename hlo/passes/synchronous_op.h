// Asynchronous pairs as the op that they carry out.
//
// Before: s = (f32[4], f32[4], u32[]) copy-start(x)      After: d = f32[4] copy(x)
//         d = f32[4] copy-done(s)
// Likewise all-reduce, all-gather and collective-permute; an async-start becomes the instructions of the computation
// it calls. Passes then see one op, and what overlaps is for the compiler behind them to decide.
#ifndef TOROID_HLO_PASSES_SYNCHRONOUS_OP_H_
#define TOROID_HLO_PASSES_SYNCHRONOUS_OP_H_

#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// True for a start whose users, if any, are updates and dones of it: nothing else looks at the pair. By instruction.
std::vector<bool> PairedStarts(const Computation& computation);

// True for an update or done, which hand on what their start has become.
bool IsUpdateOrDone(const Instruction& instruction);

// Appends the op that `start`, no async-start, carries out on `operands`.
Instruction* AppendSynchronousOp(const Instruction& start, absl::Span<Instruction* const> operands,
                                 Computation* to);

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_SYNCHRONOUS_OP_H_
