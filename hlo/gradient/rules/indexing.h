// Gradients of reads and writes at indices.
//
// The transpose of a read adds at the same indices; the transpose of a write reads there. Reads clamp their
// indices, and writes skip windows that do not fit. Each transpose therefore clamps, or masks, explicitly.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status DynamicSliceGradient(Pullback& p);
absl::Status DynamicUpdateSliceGradient(Pullback& p);
absl::Status GatherGradient(Pullback& p);
absl::Status ScatterGradient(Pullback& p);

}  // namespace toroid
