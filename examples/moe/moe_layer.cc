#include "examples/moe/moe_layer.h"

#include "absl/strings/str_cat.h"
#include "examples/moe/gather_dispatch.h"
#include "examples/moe/gating.h"
#include "examples/moe/softmax.h"

namespace toroid {
namespace {

// weight [G,S] x one-hot expert x one-hot position: f32[G,S,E,C]; 0 if the position is beyond the capacity.
Value AtPosition(const Choice& choice, ModelBuilder* m) {
  Builder& b = m->b();
  const MoeTransformerConfig& config = m->config();
  const int64_t g = config.groups, s = config.tokens_per_group(), e = config.experts, c = config.capacity();
  Value slot = b.Iota(xla::S32, {g, s, c}, 2);
  Value at_slot = b.Compare(slot, m->Spread(choice.position, {g, s, c}, {0, 1}), "EQ");
  Value weights = b.Multiply(m->Spread(choice.gate, {g, s, e}, {0, 1}), b.Convert(choice.mask, xla::F32));
  return b.Multiply(m->Spread(weights, {g, s, e, c}, {0, 1, 2}),
                    m->Spread(b.Convert(at_slot, xla::F32), {g, s, e, c}, {0, 1, 3}));
}

Value GateLogits(Value x, Value wg, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "gate_logits");
  return b.Convert(b.Einsum("GSM,ME->GSE", x, m->Activation(wg)), xla::F32);
}

// The input of each expert: [E,G,C,M].
Value DispatchByMask(Value combine, Value x, ModelBuilder* m) {
  Builder& b = m->b();
  Value dispatch = m->Activation(b.Compare(combine, b.FullLike(combine, 0), "NE"));
  Builder::Scope scope(&b, "dispatch");
  return b.Einsum("GSEC,GSM->EGCM", dispatch, x);
}

Value Experts(Value x, const MoeLayerWeights& weights, ModelBuilder* m) {
  Builder& b = m->b();
  Builder::Scope scope(&b, "experts");
  Value h = b.Einsum("EAM,EMH->EAH", x, m->Activation(weights.wi));
  h = m->HiddenRelu(h);
  return b.Einsum("EAH,EHM->EAM", h, m->Activation(weights.wo));
}

// The outputs of the experts for their inputs, [E,G,C,M], cut by experts.
Value RunExperts(Value expert_in, const MoeLayerWeights& weights, ModelBuilder* m) {
  Builder& b = m->b();
  const MoeTransformerConfig& config = m->config();
  const Sizes dims = SizesOf(expert_in);
  {
    Builder::Scope scope(&b, "dispatch");
    expert_in =
        b.Reshape(b.Split(expert_in, 0, config.Parts(dims[0])), {dims[0], dims[1] * dims[2], dims[3]});
  }
  Value expert_out = Experts(expert_in, weights, m);
  Builder::Scope scope(&b, "combine");
  return b.Reshape(expert_out, dims);
}

Value CombineByMask(Value combine, Value expert_out, ModelBuilder* m) {
  Builder& b = m->b();
  combine = m->Activation(combine);
  Builder::Scope scope(&b, "combine");
  return b.Einsum("GSEC,GECM->GSM", combine, b.Transpose(expert_out, {1, 0, 2, 3}));
}

}  // namespace

MoeLayerWeights MakeMoeLayerWeights(const std::string& prefix, ModelBuilder* m) {
  const int64_t e = m->config().experts, model = m->config().model, hidden = m->config().hidden;
  MoeLayerWeights weights;
  weights.wg = m->Weight({model, e}, absl::StrCat(prefix, "wg"), model);
  weights.wi = m->ExpertWeight({e, model, hidden}, absl::StrCat(prefix, "wi"), model);
  weights.wo = m->ExpertWeight({e, hidden, model}, absl::StrCat(prefix, "wo"), hidden);
  return weights;
}

MoeLayerResult MoeLayer(const MoeLayerInputs& inputs, const MoeLayerWeights& weights, ModelBuilder* m) {
  const Gating gating =
      Top2Gating(Softmax(GateLogits(inputs.x, weights.wg, m), m), inputs.uniform, inputs.present, m);
  if (m->config().dispatch == Dispatch::kGather) {
    const Slots slots(gating, inputs.present, m);
    Value expert_out = RunExperts(DispatchByGather(slots, inputs.x, m), weights, m);
    return {CombineByGather(slots, expert_out, m), gating.aux, gating.load};
  }
  Value combine = m->b().Add(AtPosition(gating.first, m), AtPosition(gating.second, m));
  Value expert_out = RunExperts(DispatchByMask(combine, inputs.x, m), weights, m);
  return {CombineByMask(combine, expert_out, m), gating.aux, gating.load};
}

}  // namespace toroid
