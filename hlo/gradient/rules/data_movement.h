// Gradients of ops that move elements: these ops are linear, and their transposes move elements back.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

absl::Status BroadcastGradient(Pullback& p);
absl::Status ReshapeGradient(Pullback& p);
absl::Status TransposeGradient(Pullback& p);
absl::Status ReverseGradient(Pullback& p);
absl::Status ConcatenateGradient(Pullback& p);
absl::Status SliceGradient(Pullback& p);
absl::Status PadGradient(Pullback& p);
absl::Status IdentityGradient(Pullback& p);
absl::Status TupleGradient(Pullback& p);
absl::Status GetTupleElementGradient(Pullback& p);

}  // namespace toroid
