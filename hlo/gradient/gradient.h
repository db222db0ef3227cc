// Reverse-mode differentiation of programs.
//
// For a program that is being built:
//   ASSIGN_OR_RETURN(std::vector<Value> gradients, Gradients(loss, {weights, bias}, GradientOptions(), &b));
//   Value updated = b.Subtract(weights, b.MultiplyNumber(gradients[0], 0.1));
// For a whole module:
//   ASSIGN_OR_RETURN(auto step, GradientModule(*module, {0, 2}, GradientOptions()));
//   // step: (results..., gradients...)
//
// Cotangents are defined as in JAX (pullback.h). A cotangent has the sharding of its value.
// Source: Griewank and Walther, Evaluating Derivatives, 2nd edition, chapter 3.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/gradient/sweep/gradient_options.h"

namespace toroid {

// The derivatives of `of`, a real scalar, by each of `by`, floating-point or complex arrays of the same
// computation. `b` writes them into that computation. A derivative is zeros if `of` does not depend on the
// array. A loop through which gradients flow is replaced by one that also records the values that the
// backward pass needs.
// Errors: kInvalidArgument if `of` is no real scalar or `by` holds an array of integers; kUnimplemented
// "computation/instruction: ..." for an op without a gradient, or a loop of unknown trip count.
absl::StatusOr<std::vector<Value>> Gradients(Value of, absl::Span<const Value> by,
                                             const GradientOptions& options, InstructionBuilder* b);

// The module with further results behind the leaves of its result: the derivatives of leaf `leaf` by the
// entry's parameters of these numbers. `options` refer to instructions of `module`.
// Errors: those of Gradients; kInvalidArgument for a parameter or leaf that does not exist.
absl::StatusOr<std::unique_ptr<Module>> GradientModule(const Module& module,
                                                       absl::Span<const int64_t> parameters,
                                                       const GradientOptions& options, int64_t leaf = 0);

}  // namespace toroid
