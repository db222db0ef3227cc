// Gradients of reads and writes at indices.
//
// The transpose of a read adds at the same indices; the transpose of a write reads there. Reads clamp their
// indices, and writes skip windows that do not fit. Each transpose therefore clamps, or masks, explicitly.
#ifndef TOROID_HLO_GRADIENT_RULES_INDEXING_H_
#define TOROID_HLO_GRADIENT_RULES_INDEXING_H_

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status DynamicSliceGradient(Pullback& p);
absl::Status DynamicUpdateSliceGradient(Pullback& p);
absl::Status GatherGradient(Pullback& p);
absl::Status ScatterGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_RULES_INDEXING_H_
