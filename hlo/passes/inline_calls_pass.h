// Inlines every `call`, so that a computation is entered only by control flow and by reductions.
//
// Before: r = call(a, b), to_apply=f     After: the instructions of f over a and b
// Shardings, metadata and attributes stay; an inlined instruction without metadata takes the call's.
#ifndef TOROID_HLO_PASSES_INLINE_CALLS_PASS_H_
#define TOROID_HLO_PASSES_INLINE_CALLS_PASS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// A copy of `module` without calls.
// Errors: kResourceExhausted if the copy would hold more than 16 million instructions.
absl::StatusOr<std::unique_ptr<Module>> InlineCalls(const Module& module);

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_INLINE_CALLS_PASS_H_
