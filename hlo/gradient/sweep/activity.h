// Active values: those that depend differentiably on the values with respect to which gradients are taken.
//
// A backward pass computes cotangents of active values only. Activity is known for each leaf: a leaf of a
// loop's state is active if some trip makes it depend on an active one.
#pragma once

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/module.h"

namespace toroid {

using ActiveLeaves = std::vector<bool>;

struct ActivityProblem {
  // By parameter number; empty: none is active.
  std::vector<ActiveLeaves> parameters;
  // Always active, whatever they are computed from.
  absl::flat_hash_set<const Instruction*> sources;
  // Never active, in the computation and in those that it calls.
  const absl::flat_hash_set<const Instruction*>* stopped = nullptr;
};

// By index of the instruction. Requires: operands are before their users.
std::vector<ActiveLeaves> ComputeActivity(const Computation& computation, const ActivityProblem& problem);

// The leaves of a loop's state that are active in some trip, if `at_first` are active before the first.
ActiveLeaves ActivityInLoop(const Instruction& loop, ActiveLeaves at_first,
                            const absl::flat_hash_set<const Instruction*>* stopped);

bool AnyActive(const ActiveLeaves& leaves);

}  // namespace toroid
