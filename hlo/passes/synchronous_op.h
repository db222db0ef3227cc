// Replaces an asynchronous pair by the op it carries out.
//
// Before: s = (f32[4], f32[4], u32[]) copy-start(x)      After: d = f32[4] copy(x)
//         d = f32[4] copy-done(s)
// Likewise for all-reduce, all-gather and collective-permute; an async-start becomes the instructions of the
// computation it calls. Passes then see one op; the target's compiler decides what overlaps.
#pragma once

#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// By index: true for a start whose users are only its updates and dones, so that nothing else depends on the
// pair.
std::vector<bool> PairedStarts(const Computation& computation);

// True for an update or a done. Its value is that of the op that replaced the start.
bool IsUpdateOrDone(const Instruction& instruction);

// Appends the op that `start` carries out on `operands`. Requires: `start` is not an async-start.
Instruction* AppendSynchronousOp(const Instruction& start, absl::Span<Instruction* const> operands,
                                 Computation* to);

}  // namespace toroid
