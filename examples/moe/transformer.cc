#include "examples/moe/transformer.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/moe/layer_stack.h"
#include "examples/moe/layers.h"
#include "examples/moe/moe_layer.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// The mean of values f32[G,B,L] over the labels that count.
struct MeanOverLabels {
  MeanOverLabels(Value labels, ModelBuilder* m) : m(*m) {
    Builder& b = m->b();
    present = Present(labels, m);
    const double all = static_cast<double>(labels->shape().NumElements());
    tokens = present == nullptr ? b.Full(xla::F32, {}, all) : b.Sum(b.Convert(present, xla::F32), {0, 1, 2});
  }
  Value operator()(Value x) {
    Builder& b = m.b();
    if (present == nullptr)
      return b.MultiplyNumber(b.Sum(x, {0, 1, 2}), 1.0 / static_cast<double>(x->shape().NumElements()));
    Value sum = b.Sum(b.Select(present, x, b.FullLike(x, 0)), {0, 1, 2});
    return b.Divide(sum, b.Maximum(tokens, b.FullLike(tokens, 1)));
  }
  ModelBuilder& m;
  Value present, tokens;
};

Value Total(absl::Span<const Value> values, ModelBuilder* m) {
  Value total = values[0];
  for (size_t i = 1; i < values.size(); ++i) total = m->b().Add(total, values[i]);
  return total;
}

// Shares of first choices: f32[MoE layers,E].
Value Load(absl::Span<const Value> counts, ModelBuilder* m) {
  Builder& b = m->b();
  const int64_t e = m->config().experts;
  if (counts.empty()) return b.Zeros(xla::F32, {0, e});
  std::vector<Value> rows;
  for (Value count : counts) rows.push_back(b.Reshape(b.Sum(count, {0}), {1, e}));
  Value load = b.Concatenate(rows, 0);
  Value all = b.Sum(load, {1});
  return b.Divide(load, b.BroadcastOver(b.Maximum(all, b.FullLike(all, 1)), SizesOf(load), {1}));
}

Value UniformParameter(int64_t layers, ModelBuilder* m) {
  const Sizes dims = {layers, m->config().groups, m->config().tokens_per_group()};
  return m->SplitGroups(m->b().Parameter(Shape(xla::F32, dims), "uniform"), 1);
}

}  // namespace

Batch BatchParameters(ModelBuilder* m) {
  const MoeTransformerConfig& config = m->config();
  const Shape tokens(xla::S32, {config.groups, config.sequences, config.sequence_length});
  const auto parameter = [&](const char* name) { return m->SplitGroups(m->b().Parameter(tokens, name)); };
  Batch batch;
  batch.source_tokens = parameter("source_tokens");
  batch.target_tokens = parameter("target_tokens");
  batch.labels = parameter("labels");
  return batch;
}

Losses BuildLosses(const Batch& batch, Value uniform, ModelBuilder* m) {
  Builder& b = m->b();
  const MoeTransformerConfig& config = m->config();
  const Tables tables = MakeTables(m);
  Value source_present = Present(batch.source_tokens, m), target_present = Present(batch.target_tokens, m);
  LayerStack stack(uniform, m);
  Value encoded =
      stack.Run(Embed(tables.source, batch.source_tokens, m), source_present, nullptr, nullptr, "encoder");
  Value decoded = stack.Run(Embed(tables.target, batch.target_tokens, m), target_present, encoded,
                            source_present, "decoder");
  MeanOverLabels mean(batch.labels, m);
  Losses losses;
  losses.tokens = mean.tokens;
  const double smoothing = m->is_training() ? config.label_smoothing : 0;
  const TokenCosts costs = CrossEntropy(decoded, tables.softmax, batch.labels, smoothing, m);
  losses.cross_entropy = mean(costs.exact);
  losses.loss = smoothing == 0 ? losses.cross_entropy : mean(costs.smoothed);
  losses.auxiliary = b.Full(xla::F32, {}, 0);
  if (!stack.aux().empty()) {
    const double e = static_cast<double>(config.experts);
    const double count = static_cast<double>(config.groups) * static_cast<double>(stack.aux().size());
    losses.auxiliary = b.MultiplyNumber(b.Sum(Total(stack.aux(), m), {0}), e * e / count);
    losses.loss = b.Add(losses.loss, b.MultiplyNumber(losses.auxiliary, config.aux_weight));
  }
  losses.load = Load(stack.load(), m);
  return losses;
}

absl::StatusOr<std::unique_ptr<Module>> BuildMoeTransformer(const MoeTransformerConfig& config) {
  RETURN_IF_ERROR(config.Check());
  ModelBuilder m(config, "moe_transformer");
  const Batch batch = BatchParameters(&m);
  Value uniform = UniformParameter(config.moe_layers(), &m);
  return m.b().Build(BuildLosses(batch, uniform, &m).loss);
}

absl::StatusOr<std::unique_ptr<Module>> BuildMoeLayer(const MoeTransformerConfig& config) {
  RETURN_IF_ERROR(config.Check());
  ModelBuilder m(config, "moe_layer");
  const int64_t g = config.groups, s = config.tokens_per_group();
  MoeLayerInputs inputs;
  inputs.x = m.SplitGroups(m.b().Parameter(Shape(config.type, {g, s, config.model}), "x"));
  const MoeLayerWeights weights = MakeMoeLayerWeights("", &m);
  inputs.uniform = m.SplitGroups(m.b().Parameter(Shape(xla::F32, {g, s}), "uniform"));
  const MoeLayerResult result = MoeLayer(inputs, weights, &m);
  return m.b().Build(m.b().Tuple({result.y, m.MeanOf(result.aux, {0}, g)}));
}

absl::StatusOr<std::unique_ptr<Module>> BuildLayerPair(const MoeTransformerConfig& config) {
  RETURN_IF_ERROR(config.Check());
  ModelBuilder m(config, "layer_pair");
  const Sizes tokens = {config.groups, config.sequences, config.sequence_length, config.model};
  Value x = m.SplitGroups(m.b().Parameter(Shape(config.type, tokens), "x"));
  LayerStack stack(UniformParameter(1, &m), &m);
  for (const bool is_moe : {false, true}) {
    const std::string layer = is_moe ? "layer_1" : "layer_0";
    x = stack.SelfAttention(x, AttentionMask(), layer);
    x = stack.FeedForward(x, /*present=*/nullptr, is_moe, layer);
  }
  Builder::Scope scope(&m.b(), "moe");
  return m.b().Build(m.b().Tuple({x, m.MeanOf(stack.aux()[0], {0}, config.groups)}));
}

}  // namespace toroid
