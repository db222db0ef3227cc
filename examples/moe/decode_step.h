// Decoding with the MoE Transformer: the encoder once for a batch of sentences, then one step for each word, with keys and
// values of all earlier words kept on the mesh and a beam search flattened into the sequence dimension (beam_search.h).
//
//   ASSIGN_OR_RETURN(Encoding encoding, BuildEncoding(config));
//   ASSIGN_OR_RETURN(DecodeStep step, BuildDecodeStep(config, options));
//
// Weights are those of BuildTrainingStep, by name; there is no dropout, and every second expert is kept, as in BuildEvaluation.
// With an expert_capacity of as many places as a group has tokens a token's experts always have room, and a
// sentence is decoded alike whatever else is in the batch and however it is grouped.
// Source: GShard, arXiv:2006.16668, A.1.
#ifndef TOROID_EXAMPLES_MOE_DECODE_STEP_H_
#define TOROID_EXAMPLES_MOE_DECODE_STEP_H_

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
  int64_t steps = 24;  // T: most words of a sentence, its end included.
  // Places of an expert for each group, in the encoder and in a step; 0: as many as there are tokens in the group.
  int64_t encoder_capacity = 0, step_capacity = 0;
};

// Parameters: source_tokens s32[G,B,L], then weights. Result: a tuple of what the step's parameters named `memory` are.
struct Encoding {
  std::unique_ptr<Module> module;  // Annotated, not partitioned; so is that of the step.
  std::vector<std::string> weights;
};

// Errors: those of MoeTransformerConfig::Check; kInvalidArgument for a capacity below 0.
absl::StatusOr<Encoding> BuildEncoding(const MoeTransformerConfig& config, const DecodeOptions& options);

// One word more of every hypothesis. Parameters: the state, the memory, weights. Result: a tuple of the state after the step,
// whose memory is that of the parameters (input_output_alias), then s32[]: how many hypotheses are not finished.
struct DecodeStep {
  std::unique_ptr<Module> module;
  std::vector<std::string> state;  // As DecodeState says, then keys and values of each layer, [G,B,T*K,N,D].
  std::vector<std::string>
      memory;  // Keys and values of the source by layer, [G,B,L,N,D]; with padding also pred[G,B,L].
  std::vector<std::string> weights;
};

// Numbers of the state's arrays that are no keys or values.
struct DecodeState {
  enum {
    kStep,   // s32[]: steps done.
    kWords,  // s32[G,B,(T+1)*K]: in slot t K + k what hypothesis k is given at step t; first `begin`.
    kMask,   // pred[G,B,K,T*K]: the slots of each hypothesis, but for that of the last word.
    kLogProbability,  // f32[G,B,K]; first 0 for hypothesis 0, kNoHypothesis for others.
    kLength,          // s32[G,B,K]
    kFinished,        // pred[G,B,K]
    kCount,
  };
};

// Errors: those of MoeTransformerConfig::Check; kInvalidArgument for a beam below 1 or of more places than there are words, for
// no steps, or special words that are not in the vocabulary.
absl::StatusOr<DecodeStep> BuildDecodeStep(const MoeTransformerConfig& config, const DecodeOptions& options);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_MOE_DECODE_STEP_H_
