// Whether a partitioned program computes what its module does.
#pragma once

#include <optional>
#include <vector>

#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace toroid {

// Expects that a partitioned program and the module give the same results, up to `tolerance` (nullopt: of their types).
// Without `arguments`, they are small integers.
void ExpectRunsAs(const Module& module, const Module& partitioned, std::vector<Literal> arguments = {},
                  std::optional<double> tolerance = std::nullopt);

}  // namespace toroid
