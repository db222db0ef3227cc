// Sorts the instructions of a computation so that operands are before their users.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/module.h"

namespace toroid {

// Operands and control predecessors are before their users. Among the instructions that may come next, the
// one of lowest rank is taken, and among equal ranks the one of lowest index. `rank`: by index; empty: the
// index itself.
// Errors: kInternal "computation/instruction: ..." if the dependencies have a cycle.
absl::StatusOr<std::vector<Instruction*>> TopologicalOrder(const Computation& computation,
                                                           absl::Span<const int> rank = {});

}  // namespace toroid
