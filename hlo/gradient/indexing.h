// Gradients of reads and writes at indices.
//
// A read's transpose adds at the same indices, a write's reads there. Reads clamp their indices and writes
// leave out what does not fit, so that each transpose does by hand what the other does by itself.
#ifndef TOROID_HLO_GRADIENT_INDEXING_H_
#define TOROID_HLO_GRADIENT_INDEXING_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

absl::Status DynamicSliceGradient(Pullback& p);
absl::Status DynamicUpdateSliceGradient(Pullback& p);
absl::Status GatherGradient(Pullback& p);
absl::Status ScatterGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_INDEXING_H_
