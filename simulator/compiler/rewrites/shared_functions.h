// Functions of 20 and more instructions that are called from several places.
//
//   f called twice or more  =>  f(opt-barrier(parameters)), of which the result is opt-barrier(root)
//
// Google's compiler writes a function into its caller at once if that is the only one or the function is small, and otherwise after
// the first round of simplification, which therefore sees neither what it is given nor what becomes of its result: the variance of one
// group norm is taken over what was there before it was cut into groups, those of two, which JAX makes a function of, are not. Barriers
// stand for that until the second round (simplify_pass.h).
// Source: the passes that Google's compiler for TPU v3 dumps; functions of 19 and 20 instructions that are called twice, of 18 that
// are called five times and of 38 that are called once.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// `module` without calls (inline_calls_pass.h), with these barriers. Errors: those of inlining and of sorting instructions.
absl::StatusOr<std::unique_ptr<Module>> InlineCallsApart(const Module& module);

}  // namespace toroid
