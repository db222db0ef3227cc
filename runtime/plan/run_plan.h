// Running plans.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/plan.h"

namespace toroid {

// Runs `plan` on moved-in arguments.
// Errors: what the kernels return, prefixed by "computation/instruction: ".
absl::Status RunPlan(Plan& plan, absl::Span<MeshBuffer> arguments, const MeshContext& mesh,
                     MeshBuffer* result);

// Applies a computation over scalars to arrays of n elements at once: each argument has n elements, or is
// uniform and holds one. The result (for a tuple, each element) has n elements or is uniform.
absl::Status RunLifted(Plan& plan, absl::Span<MeshBuffer> arguments, int64_t n, const MeshContext& mesh,
                       MeshBuffer* result);

}  // namespace toroid
