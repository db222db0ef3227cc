// Functions of 20 and more instructions that are called from several places.
//
//   f called twice or more  =>  f(opt-barrier(parameters)), of which the result is opt-barrier(root)
//
// Google's compiler inlines a function at once if it is called once or is small, and otherwise after the first round of
// simplification. That round then simplifies nothing across the call. Example: JAX makes a function of the variance if a
// program has two group norms, and the reshape into groups, in the caller, is not simplified with the sums in the function;
// with a single group norm it is. Barriers around the inlined function do the same here, until the second round
// (simplify_pass.h). Source: the passes that Google's compiler for TPU v3 dumps; functions of 19 and 20 instructions that are
// called twice, of 18 that are called five times and of 38 that are called once.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// `module` without calls (inline_calls_pass.h), with these barriers. Errors: those of inlining and of sorting instructions.
absl::StatusOr<std::unique_ptr<Module>> InlineCallsApart(const Module& module);

}  // namespace toroid
