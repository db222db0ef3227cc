// A feed-forward layer of experts: gating sends each token to two experts.
//
//   gates      = softmax(einsum("GSM,ME->GSE", x, wg))
//   expert_in  = einsum("GSEC,GSM->EGCM", dispatch, x)         annotated as cut by experts: tokens travel
//   h          = relu(einsum("EGCM,EMH->EGCH", expert_in, wi))
//   expert_out = einsum("EGCH,EHM->GECM", h, wo)
//   y          = einsum("GSEC,GECM->GSM", combine, expert_out) and back
// Dispatch::kGather moves rows instead of multiplying by masks (gather_dispatch.h).
// Source: GShard, arXiv:2006.16668, Algorithm 2.
#pragma once

#include <string>

#include "examples/moe/model_builder.h"

namespace toroid {

struct MoeLayerInputs {
  Value x;                  // [G,S,M]
  Value uniform;            // f32[G,S], for Top2Gating
  Value present = nullptr;  // pred[G,S], false for padding; null if there is none
};

struct MoeLayerWeights {
  Value wg;  // [M,E]
  Value wi;  // [E,M,H]
  Value wo;  // [E,H,M]
};

struct MoeLayerResult {
  Value y;     // [G,S,M]; 0 for tokens without a place.
  Value aux;   // f32[G]
  Value load;  // f32[G,E], as in Gating.
};

// The weights are `prefix` + "wg", "wi", "wo".
MoeLayerWeights MakeMoeLayerWeights(const std::string& prefix, ModelBuilder* m);

MoeLayerResult MoeLayer(const MoeLayerInputs& inputs, const MoeLayerWeights& weights, ModelBuilder* m);

}  // namespace toroid
