#include "examples/moe/layer_stack.h"

#include "absl/strings/str_cat.h"
#include "examples/moe/moe_layer.h"
#include "examples/moe/pipeline.h"

namespace toroid {

Value LayerStack::UniformOfNextLayer() {
  const int64_t g = m_.config().groups, s = m_.config().tokens_per_group();
  const int64_t layer = static_cast<int64_t>(aux_.size());
  if (uniform_ == nullptr) return m_.Uniform({g, s});
  return m_.b().Reshape(m_.b().Slice(uniform_, {layer, 0, 0}, {layer + 1, g, s}), {g, s});
}

Value LayerStack::Experts(Value x, Value present, const std::string& name) {
  const MoeTransformerConfig& config = m_.config();
  const int64_t g = config.groups, s = config.tokens_per_group();
  const MoeLayerWeights weights = MakeMoeLayerWeights(name + ".moe.", &m_);
  MoeLayerInputs inputs;
  inputs.uniform = UniformOfNextLayer();
  inputs.x = m_.SplitGroups(m_.b().Reshape(x, {g, s, config.model}));
  if (present != nullptr) inputs.present = m_.b().Reshape(present, {g, s});
  const MoeLayerResult result = MoeLayer(inputs, weights, &m_);
  aux_.push_back(result.aux);
  load_.push_back(result.load);
  return m_.b().Reshape(result.y, {g, config.sequences, config.sequence_length, config.model});
}

Value LayerStack::SelfAttention(Value x, const AttentionMask& mask, const std::string& name) {
  Builder::Scope scope(&m_.b(), "self_attention");
  Value normal = LayerNorm(x, name + ".self_norm", &m_);
  return m_.b().Add(x, m_.Dropout(Attention(normal, normal, mask, name + ".self", &m_)));
}

Value LayerStack::CrossAttention(Value x, Value memory, const AttentionMask& mask, const std::string& name) {
  Builder::Scope scope(&m_.b(), "cross_attention");
  Value normal = LayerNorm(x, name + ".cross_norm", &m_);
  return m_.b().Add(x, m_.Dropout(Attention(normal, memory, mask, name + ".cross", &m_)));
}

Value LayerStack::FeedForward(Value x, Value present, bool is_moe, const std::string& name) {
  Builder::Scope scope(&m_.b(), is_moe ? "moe" : "ffn");
  Value normal = LayerNorm(x, name + ".ffn_norm", &m_);
  return m_.b().Add(
      x, m_.Dropout(is_moe ? Experts(normal, present, name) : DenseFeedForward(normal, name, &m_)));
}

Value LayerStack::Run(Value x, Value present, Value memory, Value memory_present, const std::string& name) {
  if (m_.config().stages > 1) return LayerNorm(RunPipeline(x, memory, name, &m_), name + ".norm", &m_);
  Builder::Scope scope(&m_.b(), name);
  const bool is_decoder = memory != nullptr;
  x = m_.Dropout(x);
  for (int64_t i = 0; i < m_.config().layers / 2; ++i) {
    const std::string layer = absl::StrCat(name, ".layer_", i);
    Builder::Scope layer_scope(&m_.b(), absl::StrCat("layer_", i));
    m_.layer_inputs().push_back(x);
    // Padding is at the end, so no position that counts can see it in a causal layer.
    x = SelfAttention(x, {.is_causal = is_decoder, .present = is_decoder ? nullptr : present}, layer);
    if (is_decoder) x = CrossAttention(x, memory, {.is_causal = false, .present = memory_present}, layer);
    x = FeedForward(x, present, /*is_moe=*/m_.config().experts > 0 && i % 2 == 1, layer);
  }
  m_.layer_inputs().push_back(x);
  return LayerNorm(x, name + ".norm", &m_);
}

Value Present(Value tokens, ModelBuilder* m) {
  if (!m->config().padding) return nullptr;
  return m->b().Compare(tokens, m->b().FullLike(tokens, 0), "NE");
}

Tables MakeTables(ModelBuilder* m, WhichTables which) {
  const MoeTransformerConfig& config = m->config();
  const auto table = [&](int64_t vocabulary, const std::string& name) {
    return m->Weight({vocabulary, config.model}, name, config.model);
  };
  if (config.shared_embedding) {
    Value shared = table(config.target_vocabulary, "embedding");
    return {shared, shared, shared};
  }
  Tables tables = {};
  if (which.source) tables.source = table(config.source_vocabulary, "encoder.embedding");
  if (!which.target) return tables;
  tables.target = table(config.target_vocabulary, "decoder.embedding");
  tables.softmax = table(config.target_vocabulary, "decoder.softmax");
  return tables;
}

}  // namespace toroid
