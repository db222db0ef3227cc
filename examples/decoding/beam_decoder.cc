#include "examples/decoding/beam_decoder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {
namespace {

absl::StatusOr<std::unique_ptr<MeshProgram>> MakeProgram(const Module& module, int64_t devices,
                                                         std::unique_ptr<Module>* partitioned) {
  PartitionOptions options;
  options.num_partitions = devices;
  ASSIGN_OR_RETURN(Partitioned result, PartitionModule(module, options));
  *partitioned = std::move(result.module);
  return MeshProgram::Create(**partitioned, module);
}

// Cuts the weights `wanted`, taken from `given` by name, for parameters `first` and following.
absl::StatusOr<std::vector<MeshValue>> CutWeights(
    const MeshProgram& program, int first, absl::Span<const std::string> wanted,
    const absl::flat_hash_map<std::string, const Literal*>& given) {
  std::vector<MeshValue> weights;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int parameter = first + static_cast<int>(i);
    const auto it = given.find(wanted[i]);
    if (it == given.end()) return absl::InvalidArgumentError(absl::StrCat("has no weight ", wanted[i]));
    const Shape& shape = program.parameter_shape(parameter);
    if (!it->second->shape().Compatible(shape)) {
      return absl::InvalidArgumentError(absl::StrCat("weight ", wanted[i], " is ",
                                                     it->second->shape().ToString(), ", that of the model ",
                                                     shape.ToString()));
    }
    ASSIGN_OR_RETURN(MeshValue value, program.Cut(parameter, *it->second));
    weights.push_back(std::move(value));
  }
  return weights;
}

// Which sentences have at least one word.
std::vector<bool> SentencesThere(const Literal& source, int32_t padding) {
  const int64_t length = source.shape().dim(2);
  std::vector<bool> there(source.shape().NumElements() / length);
  const absl::Span<const int32_t> tokens = source.data<int32_t>();
  for (size_t i = 0; i < there.size(); ++i) {
    const auto row = tokens.subspan(i * length, length);
    there[i] = std::any_of(row.begin(), row.end(), [&](int32_t token) { return token != padding; });
  }
  return there;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BeamDecoder>> BeamDecoder::Create(const MoeTransformerConfig& config,
                                                                 const DecodeOptions& options, int threads) {
  std::unique_ptr<BeamDecoder> decoder(new BeamDecoder(config, options, threads));
  ASSIGN_OR_RETURN(decoder->encoding_, BuildEncoding(config, options));
  ASSIGN_OR_RETURN(decoder->step_, BuildDecodeStep(config, options));
  ASSIGN_OR_RETURN(decoder->encoding_program_,
                   MakeProgram(*decoder->encoding_.module, config.devices, &decoder->partitioned_encoding_));
  ASSIGN_OR_RETURN(decoder->step_program_,
                   MakeProgram(*decoder->step_.module, config.devices, &decoder->partitioned_step_));
  return decoder;
}

std::vector<BeamDecoder::WeightShape> BeamDecoder::weights() const {
  std::vector<WeightShape> weights;
  const auto add = [&](const std::vector<std::string>& names, const MeshProgram& program, int first) {
    for (size_t i = 0; i < names.size(); ++i) {
      const bool is_known =
          std::any_of(weights.begin(), weights.end(), [&](const auto& w) { return w.name == names[i]; });
      if (!is_known) weights.push_back({names[i], program.parameter_shape(first + static_cast<int>(i))});
    }
  };
  add(encoding_.weights, *encoding_program_, 1);
  add(step_.weights, *step_program_, FirstStepWeight());
  return weights;
}

absl::Status BeamDecoder::SetWeights(absl::Span<const std::string> names, absl::Span<const Literal> arrays) {
  if (names.size() != arrays.size()) return absl::InvalidArgumentError("not as many arrays as names");
  absl::flat_hash_map<std::string, const Literal*> given;
  for (size_t i = 0; i < names.size(); ++i) given.emplace(names[i], &arrays[i]);
  ASSIGN_OR_RETURN(encoding_weights_, CutWeights(*encoding_program_, 1, encoding_.weights, given));
  ASSIGN_OR_RETURN(step_weights_, CutWeights(*step_program_, FirstStepWeight(), step_.weights, given));
  return absl::OkStatus();
}

Literal BeamDecoder::FreshState(int i, const std::vector<bool>& is_there) const {
  Literal value(step_program_->parameter_shape(i));
  const int64_t k = options_.search.beam, slots = options_.steps * k;
  for (size_t s = 0; s < is_there.size(); ++s) {
    const auto of_sentence = [&](auto values, int64_t size) { return values.subspan(s * size, size); };
    if (i == DecodeState::kWords) {
      const auto words = of_sentence(value.mutable_data<int32_t>(), slots + k);
      std::fill(words.begin(), words.end(), options_.search.padding);
      std::fill_n(words.begin(), k, options_.search.begin);
    } else if (i == DecodeState::kLogProbability) {
      const auto values = of_sentence(value.mutable_data<float>(), k);
      std::fill(values.begin() + 1, values.end(), static_cast<float>(kNoHypothesis));
    } else if (i == DecodeState::kFinished) {
      const auto values = of_sentence(value.mutable_data<bool>(), k);
      std::fill(values.begin(), values.end(), !is_there[s]);
    }
  }
  return value;
}

absl::StatusOr<std::vector<MeshValue>> BeamDecoder::Encode(const Literal& source) {
  RunOptions run;
  run.threads = threads_;
  std::vector<MeshValue> arguments;
  ASSIGN_OR_RETURN(MeshValue tokens, encoding_program_->Cut(0, source));
  arguments.push_back(std::move(tokens));
  arguments.insert(arguments.end(), encoding_weights_.begin(), encoding_weights_.end());
  ASSIGN_OR_RETURN(std::vector<MeshValue> results, encoding_program_->Run(std::move(arguments), run));
  std::vector<MeshValue> memory;
  for (size_t i = 0; i < results.size(); ++i) {
    const int at = static_cast<int>(i);
    ASSIGN_OR_RETURN(MeshValue value, step_program_->TakeResult(*encoding_program_, at, std::move(results[i]),
                                                                static_cast<int>(step_.state.size()) + at));
    memory.push_back(std::move(value));
  }
  return memory;
}

absl::Status BeamDecoder::RunSteps(const std::vector<MeshValue>& memory, std::vector<MeshValue>* state) {
  RunOptions run;
  run.threads = threads_;
  const size_t arrays = state->size();
  for (steps_done_ = 0; steps_done_ < options_.steps;) {
    std::vector<MeshValue> arguments = std::move(*state);
    state->clear();
    arguments.insert(arguments.end(), memory.begin(), memory.end());
    arguments.insert(arguments.end(), step_weights_.begin(), step_weights_.end());
    ASSIGN_OR_RETURN(std::vector<MeshValue> results, step_program_->Run(std::move(arguments), run));
    for (size_t i = 0; i < arrays; ++i) {
      const int at = static_cast<int>(i);
      ASSIGN_OR_RETURN(MeshValue value, step_program_->Feed(at, std::move(results[i]), at));
      state->push_back(std::move(value));
    }
    ++steps_done_;
    ASSIGN_OR_RETURN(const Literal open,
                     step_program_->AssembleResult(static_cast<int>(arrays), results[arrays]));
    if (open.data<int32_t>()[0] == 0) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::vector<DecodedSentence>>> BeamDecoder::ReadOut(
    const std::vector<MeshValue>& state, const std::vector<bool>& is_there) const {
  std::vector<Literal> arrays;
  for (int i = 0; i < DecodeState::kCount; ++i) {
    ASSIGN_OR_RETURN(Literal array, step_program_->AssembleParameter(i, state[i]));
    arrays.push_back(std::move(array));
  }
  const auto words = arrays[DecodeState::kWords].data<int32_t>();
  const auto mask = arrays[DecodeState::kMask].data<bool>();
  const auto log_probability = arrays[DecodeState::kLogProbability].data<float>();
  const auto length = arrays[DecodeState::kLength].data<int32_t>();
  const auto finished = arrays[DecodeState::kFinished].data<bool>();
  const int64_t k = options_.search.beam, slots = options_.steps * k;
  std::vector<std::vector<DecodedSentence>> sentences(is_there.size());
  for (size_t s = 0; s < sentences.size(); ++s) {
    if (!is_there[s]) continue;
    for (int64_t place = 0; place < k; ++place) {
      const size_t at = s * k + place;
      DecodedSentence sentence;
      // The first K slots hold `begin`.
      for (int64_t slot = k; slot < slots; ++slot) {
        if (mask[at * slots + slot]) sentence.words.push_back(words[s * (slots + k) + slot]);
      }
      sentence.is_finished = finished[at];
      if (!finished[at]) sentence.words.push_back(words[s * (slots + k) + steps_done_ * k + place]);
      sentence.log_probability = log_probability[at];
      sentence.score =
          sentence.log_probability / std::pow((5 + length[at]) / 6.0, options_.search.length_power);
      sentences[s].push_back(std::move(sentence));
    }
  }
  return sentences;
}

absl::StatusOr<std::vector<std::vector<DecodedSentence>>> BeamDecoder::Decode(const Literal& source) {
  if (step_weights_.empty()) return absl::FailedPreconditionError("the decoder has no weights");
  if (!source.shape().Compatible(encoding_program_->parameter_shape(0))) {
    return absl::InvalidArgumentError(absl::StrCat("sentences are ", source.shape().ToString(),
                                                   ", should be ",
                                                   encoding_program_->parameter_shape(0).ToString()));
  }
  const std::vector<bool> is_there = SentencesThere(source, options_.search.padding);
  ASSIGN_OR_RETURN(const std::vector<MeshValue> memory, Encode(source));
  std::vector<MeshValue> state;
  for (size_t i = 0; i < step_.state.size(); ++i) {
    const int at = static_cast<int>(i);
    ASSIGN_OR_RETURN(MeshValue value, step_program_->Cut(at, FreshState(at, is_there)));
    state.push_back(std::move(value));
  }
  RETURN_IF_ERROR(RunSteps(memory, &state));
  return ReadOut(state, is_there);
}

}  // namespace toroid
