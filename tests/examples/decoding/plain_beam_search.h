// A plain beam search: every hypothesis is a list of words, and at each step the whole model is run anew on
// each list, without kept keys or values, masks of hypotheses or a mesh.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "examples/decoding/beam_decoder.h"
#include "examples/moe/config.h"
#include "hlo/ir/literal.h"

namespace toroid {

struct NamedWeights {
  std::vector<std::string> names;
  std::vector<Literal> arrays;
};

// All of the model's weights, drawn from a seed; larger than initial weights, so that probabilities differ.
NamedWeights RandomWeights(const MoeTransformerConfig& config, uint64_t seed);

class PlainBeamSearch {
 public:
  // Experts have room for all tokens.
  static absl::StatusOr<std::unique_ptr<PlainBeamSearch>> Create(const MoeTransformerConfig& config,
                                                                 const DecodeOptions& options,
                                                                 const NamedWeights& weights);

  // Decodes one sentence [L] into its hypotheses, best first.
  absl::StatusOr<std::vector<DecodedSentence>> Decode(absl::Span<const int32_t> source) const;

 private:
  explicit PlainBeamSearch(const DecodeOptions& options) : options_(options) {}

  // log p of each word after `words`, [V].
  absl::StatusOr<std::vector<float>> Next(absl::Span<const int32_t> source,
                                          const std::vector<int32_t>& words) const;
  double Score(double log_probability, size_t length) const;

  DecodeOptions options_;
  std::unique_ptr<Module> module_;  // weights, source s32[1,1,L], target s32[1,1,T] -> f32[1,1,T,V]
  std::vector<Literal> weights_;
};

}  // namespace toroid
