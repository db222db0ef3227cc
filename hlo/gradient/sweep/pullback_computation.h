// The backward pass of a computation, as a computation of its own; for loops, branches and calls.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/gradient/sweep/activity.h"
#include "hlo/gradient/sweep/gradient_options.h"
#include "hlo/gradient/sweep/reverse_sweep.h"

namespace toroid {

// An array of the forward computation: a leaf of a parameter, or the value of another instruction.
struct ForwardValue {
  const Instruction* instruction = nullptr;
  int leaf = 0;
};

struct PullbackComputation {
  // (cotangents of the result's leaves in `of_result`, then the values `needed`) -> a tuple of the cotangents
  // of the parameters' leaves in `of_parameters`.
  Computation* computation = nullptr;
  std::vector<int> of_result;
  std::vector<ForwardValue> needed;
  std::vector<std::pair<int, int>> of_parameters;  // (parameter, leaf): the active ones.
};

// `active`: the active leaves of the parameters of `forward`. `of_result`: leaves of its result that have
// cotangents; inactive ones are dropped. `keep`: values, besides parameters, that need not be recomputed.
absl::StatusOr<PullbackComputation> MakePullback(const Computation& forward,
                                                 const std::vector<ActiveLeaves>& active,
                                                 absl::Span<const int> of_result,
                                                 const GradientOptions& options, VisitOp visit,
                                                 const std::function<bool(const Instruction&)>& keep,
                                                 const InstructionBuilder& b);

// An array within nested tuples.
Value LeafOf(InstructionBuilder& b, Value value, int leaf);

}  // namespace toroid
