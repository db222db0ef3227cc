// Decodes batches of sentences on a simulated mesh: runs the encoder once, then a step per word, until every
// hypothesis has ended.
//
//   ASSIGN_OR_RETURN(const auto decoder, BeamDecoder::Create(config, options));
//   RETURN_IF_ERROR(decoder->SetWeights(checkpoint.names, checkpoint.arrays));
//   ASSIGN_OR_RETURN(const auto sentences, decoder->Decode(source_tokens));
//
// Weights, keys, values and hypotheses stay on the mesh between steps. Each step returns one number, the
// number of hypotheses that have not ended.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "examples/moe/config.h"
#include "examples/moe/decode_step.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/mesh/mesh_value.h"
#include "runtime/partitioned/mesh_program.h"

namespace toroid {

struct DecodedSentence {
  std::vector<int32_t> words;  // Without `begin` and `end`.
  double log_probability = 0;
  double score = 0;          // Normalized by length (beam_search.h).
  bool is_finished = false;  // False if the last step ended it.
};

class BeamDecoder {
 public:
  // config: its devices are those of the mesh; a batch has groups * sequences sentences.
  // Errors: those of BuildEncoding, BuildDecodeStep, PartitionModule and MeshProgram::Create.
  static absl::StatusOr<std::unique_ptr<BeamDecoder>> Create(const MoeTransformerConfig& config,
                                                             const DecodeOptions& options, int threads = 0);

  // The names of the weights it takes, each once.
  struct WeightShape {
    std::string name;
    Shape shape;
  };
  std::vector<WeightShape> weights() const;
  // Sets the weights by name; a training step's other arrays are ignored. Errors: kInvalidArgument if one is
  // missing or has another shape.
  absl::Status SetWeights(absl::Span<const std::string> names, absl::Span<const Literal> arrays);

  // source: s32[G,B,L]. Gives K hypotheses for each of the G * B sentences, best first. A sentence that is
  // all padding has no hypotheses.
  // Errors: kFailedPrecondition without weights; kInvalidArgument for another shape; those of Executor::Run.
  absl::StatusOr<std::vector<std::vector<DecodedSentence>>> Decode(const Literal& source);

  int64_t sentences() const { return config_.groups * config_.sequences; }
  const MoeTransformerConfig& config() const { return config_; }
  // Steps of the last call.
  int64_t steps_done() const { return steps_done_; }

 private:
  BeamDecoder(const MoeTransformerConfig& config, const DecodeOptions& options, int threads)
      : config_(config), options_(options), threads_(threads) {}

  int FirstStepWeight() const { return static_cast<int>(step_.state.size() + step_.memory.size()); }
  Literal FreshState(int i, const std::vector<bool>& is_there) const;
  absl::StatusOr<std::vector<MeshValue>> Encode(const Literal& source);
  // Runs steps from `state` until every hypothesis has ended.
  absl::Status RunSteps(const std::vector<MeshValue>& memory, std::vector<MeshValue>* state);
  absl::StatusOr<std::vector<std::vector<DecodedSentence>>> ReadOut(const std::vector<MeshValue>& state,
                                                                    const std::vector<bool>& is_there) const;

  const MoeTransformerConfig config_;
  const DecodeOptions options_;
  const int threads_;
  Encoding encoding_;
  DecodeStep step_;
  std::unique_ptr<Module> partitioned_encoding_, partitioned_step_;
  std::unique_ptr<MeshProgram> encoding_program_, step_program_;
  std::vector<MeshValue> encoding_weights_, step_weights_;
  int64_t steps_done_ = 0;
};

}  // namespace toroid
