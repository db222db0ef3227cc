// An order of a computation's instructions in which operands stand before their users.
#ifndef TOROID_HLO_IR_TOPOLOGICAL_ORDER_H_
#define TOROID_HLO_IR_TOPOLOGICAL_ORDER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

// Operands and control predecessors before their users; of those that may come next always the one of the
// lowest rank, of equal ranks the one that stands first. rank: by index; empty: where instructions stand.
// Errors: kInternal "computation/instruction: ..." if instructions use each other in a circle.
absl::StatusOr<std::vector<Instruction*>> TopologicalOrder(const Computation& computation,
                                                           absl::Span<const int> rank = {});

}  // namespace toroid

#endif  // TOROID_HLO_IR_TOPOLOGICAL_ORDER_H_
