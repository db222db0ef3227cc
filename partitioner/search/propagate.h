// The first plan: shardings by propagation, ops decided one by one.
#pragma once

#include <optional>
#include <vector>

#include "partitioner/plan/greedy_plan.h"

namespace toroid {

// The tensors that the caller of the program sees: parameters and outputs.
std::vector<int> BoundaryTensors(const PreparedProgram& program);

// `even`: by tensor, whether it may be cut only into equal parts; empty: no tensor is so restricted. nullopt as for
// DecideGreedily.
std::optional<PricedPlan> Propagated(const AssignmentPolicy& policy, PlanMemo* memo,
                                     const std::vector<bool>& even = {});

}  // namespace toroid
