// Reverse-mode differentiation of programs.
//
// In a program that is being built:
//   ASSIGN_OR_RETURN(std::vector<Value> gradients, Gradients(loss, {weights, bias}, GradientOptions(), &b));
//   Value updated = b.Subtract(weights, b.MultiplyNumber(gradients[0], 0.1));
// Of a whole module:
//   ASSIGN_OR_RETURN(auto step, GradientModule(*module, {0, 2}, GradientOptions()));   // (results..., gradients...)
//
// Every value has the cotangent that JAX would give it (pullback.h). Shardings of cotangents are those of
// their values.
// Source: Griewank and Walther, Evaluating Derivatives, 2nd edition, chapter 3.
#ifndef TOROID_HLO_GRADIENT_GRADIENT_H_
#define TOROID_HLO_GRADIENT_GRADIENT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/gradient/gradient_options.h"

namespace toroid {

// Derivatives of `of`, a real scalar, by each of `by`, arrays of floating point or complex numbers of the
// same computation; written where `b` writes, which is that computation. Zeros where nothing depends on one.
// Loops through which gradients flow are replaced by loops that also write down what the backward pass needs.
// Errors: kInvalidArgument if `of` is no real scalar or `by` holds an array of integers; kUnimplemented
// "computation/instruction: ..." for an op without a gradient, or a loop whose number of trips is not known.
absl::StatusOr<std::vector<Value>> Gradients(Value of, absl::Span<const Value> by,
                                             const GradientOptions& options, InstructionBuilder* b);

// The module with, behind the leaves of its result, the derivatives of leaf `leaf` by the entry's parameters
// of these numbers. `options`: of instructions of `module`.
// Errors: those of Gradients; kInvalidArgument for numbers of parameters or leaves that do not exist.
absl::StatusOr<std::unique_ptr<Module>> GradientModule(const Module& module,
                                                       absl::Span<const int64_t> parameters,
                                                       const GradientOptions& options, int64_t leaf = 0);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_GRADIENT_H_
