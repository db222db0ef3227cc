// A reducer over whole slices: acc[i] = body(acc[i], x[i]) for arrays of n elements.
//
// Bodies of one op (scalar_body.h) have loops of their own; all others run here: their plan runs on all n
// elements at once.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/plan/plan.h"

namespace toroid {

// body(a_0 ... a_{n-1}, b_0 ... b_{n-1}) -> n values, on arrays of `count` elements each; an argument may be
// uniform (one element for all). Results have `count` elements.
// Errors: those of the body, kResourceExhausted.
absl::Status CombineSlices(Plan& body, absl::Span<MeshBuffer> a, absl::Span<MeshBuffer> b, int64_t count,
                           const MeshContext& mesh, std::vector<MeshBuffer>* results);

}  // namespace toroid
