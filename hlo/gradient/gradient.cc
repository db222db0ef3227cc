#include "hlo/gradient/gradient.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/gradient/copied_options.h"
#include "hlo/gradient/rules/gradient_rules.h"
#include "hlo/gradient/sweep/kept_values.h"
#include "hlo/gradient/sweep/leaves.h"
#include "hlo/gradient/sweep/primals.h"
#include "hlo/gradient/sweep/pullback_computation.h"
#include "hlo/gradient/sweep/reverse_sweep.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/dce_pass.h"

namespace toroid {
namespace {

// True for parameters and other instructions without operands (except constants and iota), and for their
// elements: they cannot be recomputed.
bool IsGiven(const Instruction& value) {
  const Instruction* at = &value;
  while (at->opcode() == Opcode::kGetTupleElement) at = at->operand(0);
  return at->num_operands() == 0 && at->opcode() != Opcode::kConstant && at->opcode() != Opcode::kIota;
}

absl::Status CheckRequest(const Instruction& of, absl::Span<const Value> by) {
  if (!of.shape().IsScalar() || !IsFloat(of.shape().element_type())) {
    return absl::InvalidArgumentError(
        absl::StrCat(of.Path(), ": gradients are those of a real scalar, this is ", of.shape().ToString()));
  }
  for (const Instruction* source : by) {
    if (!source->shape().IsArray() || !IsDifferentiable(source->shape().element_type())) {
      return absl::InvalidArgumentError(
          absl::StrCat(source->Path(), ": no derivatives by ", source->shape().ToString(),
                       "; an array of floating point or complex numbers has them"));
    }
  }
  return absl::OkStatus();
}

// A value of the forward pass in the computation itself; null if it is recomputed.
Value KeptHere(const GradientOptions& options, const Instruction& value) {
  if (options.keep != nullptr && !IsGiven(value) && !IsKept(options, value)) return nullptr;
  return const_cast<Instruction*>(&value);  // It belongs to the computation that is written.
}

}  // namespace

absl::StatusOr<std::vector<Value>> Gradients(Value of, absl::Span<const Value> by,
                                             const GradientOptions& options, InstructionBuilder* b) {
  if (!b->status().ok()) return b->status();
  RETURN_IF_ERROR(CheckRequest(*of, by));
  ActivityProblem problem;
  problem.sources.insert(by.begin(), by.end());
  problem.stopped = &options.stopped;
  const Computation& computation = *b->computation();
  std::vector<ActiveLeaves> activity = ComputeActivity(computation, problem);
  Primals primals([&](const Instruction& value) { return KeptHere(options, value); }, b);
  ReverseSweep sweep(computation, activity, problem.sources, options, ApplyGradientRule, &primals, b);
  sweep.Add(*of, 0, b->Full(of->shape().element_type(), {}, 1));
  const xla::OpMetadata* metadata = b->metadata();
  RETURN_IF_ERROR(sweep.Run());
  b->set_metadata(metadata);
  std::vector<Value> gradients;
  for (const Value source : by) gradients.push_back(sweep.CotangentOrZeros(*source, 0));
  if (!b->status().ok()) return b->status();
  RETURN_IF_ERROR(SortInstructions(b->computation()));
  return gradients;
}

absl::StatusOr<std::unique_ptr<Module>> GradientModule(const Module& module,
                                                       absl::Span<const int64_t> parameters,
                                                       const GradientOptions& options, int64_t leaf) {
  std::unique_ptr<Module> copy = CloneModule(module);
  const GradientOptions of_copy = OptionsInCopy(options, module, *copy);
  Computation* entry = copy->entry();
  if (leaf < 0 || leaf >= entry->root()->shape().NumLeaves()) {
    return absl::InvalidArgumentError(absl::StrCat("the result has no leaf ", leaf));
  }
  InstructionBuilder b(entry);
  std::vector<Value> results = b.Flatten(entry->root());
  std::vector<Value> by;
  for (const int64_t number : parameters) {
    if (number < 0 || number >= entry->num_parameters()) {
      return absl::InvalidArgumentError(absl::StrCat("the entry has no parameter ", number));
    }
    by.push_back(entry->parameter(number));
  }
  ASSIGN_OR_RETURN(const std::vector<Value> gradients, Gradients(results[leaf], by, of_copy, &b));
  results.insert(results.end(), gradients.begin(), gradients.end());
  b.Finish(b.Tuple(results));
  EliminateDeadCode(copy.get());
  copy->RemoveUnreachableComputations();
  return copy;
}

}  // namespace toroid
