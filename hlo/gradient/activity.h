// Which values depend, in a way that can be differentiated, on those with respect to which gradients are
// taken.
//
// Backward passes compute cotangents of active values alone. Activity is known leaf by leaf: of a loop's
// state, the leaves that some trip makes depend on an active one.
#ifndef TOROID_HLO_GRADIENT_ACTIVITY_H_
#define TOROID_HLO_GRADIENT_ACTIVITY_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo/ir/module.h"

namespace toroid {

using ActiveLeaves = std::vector<bool>;

struct ActivityProblem {
  // By parameter number; empty: none is active.
  std::vector<ActiveLeaves> parameters;
  // Active whatever they are computed from.
  absl::flat_hash_set<const Instruction*> sources;
  // Never active, in the computation and in those that it calls.
  const absl::flat_hash_set<const Instruction*>* stopped = nullptr;
};

// By index of the instruction. Operands must stand before their users.
std::vector<ActiveLeaves> ComputeActivity(const Computation& computation, const ActivityProblem& problem);

// The leaves of a loop's state that are active in some trip, if these are at its beginning.
ActiveLeaves ActivityInLoop(const Instruction& loop, ActiveLeaves at_first,
                            const absl::flat_hash_set<const Instruction*>* stopped);

bool AnyActive(const ActiveLeaves& leaves);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_ACTIVITY_H_
