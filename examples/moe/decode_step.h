// Decoding with the MoE Transformer: the encoder runs once for a batch of sentences, then one step per word.
// The keys and values of all earlier words stay on the mesh, and the beam search is flattened into the
// sequence dimension (beam_search.h).
//
//   ASSIGN_OR_RETURN(Encoding encoding, BuildEncoding(config));
//   ASSIGN_OR_RETURN(DecodeStep step, BuildDecodeStep(config, options));
//
// Weights are those of BuildTrainingStep, by name; there is no dropout, and every second expert is kept, as
// in BuildEvaluation. If expert_capacity is the number of tokens of a group, every token has room, and a
// sentence is decoded the same whatever else is in the batch and however it is grouped.
// Source: GShard, arXiv:2006.16668, A.1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "examples/moe/beam_search.h"
#include "examples/moe/config.h"
#include "hlo/ir/module.h"

namespace toroid {

struct DecodeOptions {
  BeamOptions search;
  int64_t steps = 24;  // T: most words of a sentence, including its end.
  // Places in an expert's buffer per group, in the encoder and in a step; 0: the number of tokens of the
  // group.
  int64_t encoder_capacity = 0, step_capacity = 0;
};

// Parameters: source_tokens s32[G,B,L], then weights. Result: a tuple of the arrays in the step's `memory`.
struct Encoding {
  std::unique_ptr<Module> module;  // Annotated, not partitioned; so is the step's.
  std::vector<std::string> weights;
};

// Errors: those of MoeTransformerConfig::Check; kInvalidArgument for a capacity below 0.
absl::StatusOr<Encoding> BuildEncoding(const MoeTransformerConfig& config, const DecodeOptions& options);

// Adds one word to every hypothesis. Parameters: the state, the memory, weights. Result: a tuple of the state
// after the step, which takes the parameters' memory (input_output_alias), then s32[]: the number of
// hypotheses that are not finished.
struct DecodeStep {
  std::unique_ptr<Module> module;
  // The arrays of DecodeState, then keys and values of each layer, [G,B,T*K,N,D].
  std::vector<std::string> state;
  // Keys and values of the source by layer, [G,B,L,N,D]; with padding also pred[G,B,L].
  std::vector<std::string> memory;
  std::vector<std::string> weights;
};

// Indices of the state's arrays other than keys and values.
struct DecodeState {
  enum {
    kStep,   // s32[]: number of steps done.
    kWords,  // s32[G,B,(T+1)*K]: slot t K + k holds the input of hypothesis k at step t; `begin` at step 0.
    kMask,   // pred[G,B,K,T*K]: the slots of each hypothesis, without its last word's.
    kLogProbability,  // f32[G,B,K]; at the start 0 for hypothesis 0, kNoHypothesis for others.
    kLength,          // s32[G,B,K]
    kFinished,        // pred[G,B,K]
    kCount,
  };
};

// Errors: those of MoeTransformerConfig::Check; kInvalidArgument for a beam below 1 or larger than the number
// of words, for steps below 1, and for special words that are not in the vocabulary.
absl::StatusOr<DecodeStep> BuildDecodeStep(const MoeTransformerConfig& config, const DecodeOptions& options);

}  // namespace toroid
