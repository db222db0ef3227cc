#include "tests/examples/decoding/plain_beam_search.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "absl/algorithm/container.h"
#include "examples/moe/layer_stack.h"
#include "examples/moe/layers.h"
#include "examples/moe/model_builder.h"
#include "examples/moe/signature.h"
#include "examples/moe/training_step.h"
#include "hlo/base/status.h"
#include "hlo/passes/dce_pass.h"
#include "runtime/engine/executor.h"

namespace toroid {

NamedWeights RandomWeights(const MoeTransformerConfig& config, uint64_t seed) {
  NamedWeights weights;
  std::mt19937_64 random(seed);
  const absl::StatusOr<TrainingStep> step = BuildTrainingStep(config, TrainingOptions());
  TOROID_CHECK(step.ok(), step.status().ToString());
  for (const StateArray& array : step->state) {
    if (array.kind != StateArray::Kind::kWeight) continue;
    std::normal_distribution<float> draw(static_cast<float>(array.mean),
                                         static_cast<float>(1.5 * array.stddev));
    Literal value(array.shape);
    for (float& x : value.mutable_data<float>())
      x = array.stddev == 0 ? static_cast<float>(array.mean) : draw(random);
    weights.names.push_back(array.name);
    weights.arrays.push_back(std::move(value));
  }
  return weights;
}

absl::StatusOr<std::unique_ptr<PlainBeamSearch>> PlainBeamSearch::Create(const MoeTransformerConfig& given,
                                                                         const DecodeOptions& options,
                                                                         const NamedWeights& weights) {
  std::unique_ptr<PlainBeamSearch> search(new PlainBeamSearch(options));
  MoeTransformerConfig config = given;
  config.devices = config.groups = config.sequences = 1;
  // The decoder's stack is of the same length, padded.
  config.sequence_length = std::max(given.sequence_length, options.steps);
  config.expert_capacity = config.sequence_length;
  ModelBuilder m(config, "forward");
  Builder& b = m.b();
  const Shape tokens(xla::S32, {1, 1, config.sequence_length});
  Value source = b.Parameter(tokens, "source"), target = b.Parameter(tokens, "target");
  Value source_present = Present(source, &m);
  const Tables tables = MakeTables(&m);
  LayerStack stack(nullptr, &m);
  Value encoded = stack.Run(Embed(tables.source, source, &m), source_present, nullptr, nullptr, "encoder");
  Value decoded =
      stack.Run(Embed(tables.target, target, &m), Present(target, &m), encoded, source_present, "decoder");
  Value logits = b.Einsum("GBLM,VM->GBLV", decoded, tables.softmax);
  std::vector<Value> parameters;
  for (const ModelWeight& weight : m.weights()) {
    const auto it = absl::c_find(weights.names, weight.name);
    TOROID_CHECK(it != weights.names.end(), weight.name);
    search->weights_.push_back(weights.arrays[it - weights.names.begin()]);
    parameters.push_back(weight.value);
  }
  parameters.insert(parameters.end(), {source, target});
  ASSIGN_OR_RETURN(search->module_, b.Build(logits));
  EliminateDeadCode(search->module_.get());
  RETURN_IF_ERROR(NumberParameters(parameters, search->module_->entry()));
  return search;
}

absl::StatusOr<std::vector<float>> PlainBeamSearch::Next(absl::Span<const int32_t> source,
                                                         const std::vector<int32_t>& words) const {
  std::vector<Literal> arguments = weights_;
  const Shape& shape = module_->entry()->parameter(static_cast<int>(arguments.size()))->shape();
  Literal source_tokens(shape), target_tokens(shape);
  std::copy(source.begin(), source.end(), source_tokens.mutable_data<int32_t>().begin());
  const absl::Span<int32_t> target = target_tokens.mutable_data<int32_t>();
  target[0] = options_.search.begin;
  std::copy(words.begin(), words.end(), target.begin() + 1);
  arguments.push_back(std::move(source_tokens));
  arguments.push_back(std::move(target_tokens));
  ASSIGN_OR_RETURN(const Literal logits, RunSingle(*module_, arguments));
  const int64_t v = logits.shape().dim(3);
  const absl::Span<const float> row = logits.data<float>().subspan(words.size() * v, v);
  double sum = 0;
  for (const float x : row) sum += std::exp(static_cast<double>(x));
  std::vector<float> log_probabilities;
  for (const float x : row) log_probabilities.push_back(static_cast<float>(x - std::log(sum)));
  return log_probabilities;
}

double PlainBeamSearch::Score(double log_probability, size_t length) const {
  return log_probability / std::pow((5.0 + static_cast<double>(length)) / 6.0, options_.search.length_power);
}

absl::StatusOr<std::vector<DecodedSentence>> PlainBeamSearch::Decode(absl::Span<const int32_t> source) const {
  std::vector<DecodedSentence> beam(1);
  for (int64_t t = 0; t < options_.steps; ++t) {
    std::vector<DecodedSentence> next;
    for (const DecodedSentence& hypothesis : beam) {
      if (hypothesis.is_finished) {
        next.push_back(hypothesis);
        continue;
      }
      ASSIGN_OR_RETURN(const std::vector<float> log_probabilities, Next(source, hypothesis.words));
      for (int32_t word = 0; word < static_cast<int32_t>(log_probabilities.size()); ++word) {
        if (word == options_.search.padding || word == options_.search.begin) continue;
        DecodedSentence longer = hypothesis;
        longer.log_probability += log_probabilities[word];
        longer.is_finished = word == options_.search.end;
        if (!longer.is_finished) longer.words.push_back(word);
        longer.score = Score(longer.log_probability, hypothesis.words.size() + 1);
        next.push_back(std::move(longer));
      }
    }
    std::stable_sort(next.begin(), next.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
    next.resize(std::min<size_t>(next.size(), options_.search.beam));
    beam = std::move(next);
    if (absl::c_all_of(beam, [](const DecodedSentence& s) { return s.is_finished; })) break;
  }
  return beam;
}

}  // namespace toroid
