#include "examples/moe/decode_step.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "examples/moe/layer_stack.h"
#include "examples/moe/layers.h"
#include "examples/moe/model_builder.h"
#include "examples/moe/signature.h"
#include "examples/moe/softmax.h"
#include "hlo/base/status.h"
#include "hlo/passes/dce_pass.h"

namespace toroid {
namespace {

constexpr absl::string_view kSourcePresent = "source_present";

std::string LayerName(absl::string_view stack, int64_t i) { return absl::StrCat(stack, ".layer_", i); }

std::vector<std::string> MemoryNames(const MoeTransformerConfig& config) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < config.layers / 2; ++i) {
    names.push_back(LayerName("source_keys", i));
    names.push_back(LayerName("source_values", i));
  }
  if (config.padding) names.emplace_back(kSourcePresent);
  return names;
}

absl::Status CheckCapacity(int64_t capacity) {
  if (capacity >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the experts' capacity is ", capacity, "; use 0 or more"));
}

absl::Status CheckSearch(const MoeTransformerConfig& config, const DecodeOptions& options) {
  RETURN_IF_ERROR(CheckCapacity(options.step_capacity));
  if (options.steps < 1) return absl::InvalidArgumentError("decoding needs at least one step");
  const BeamOptions& search = options.search;
  for (const int32_t word : {search.padding, search.begin, search.end}) {
    if (word >= 0 && word < config.target_vocabulary) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("word ", word, " is not in a vocabulary of ", config.target_vocabulary));
  }
  // Words are all tokens but padding and `begin`.
  if (search.beam < 1 || search.beam > config.target_vocabulary - 2) {
    return absl::InvalidArgumentError(absl::StrCat("a beam of ", search.beam, " hypotheses for ",
                                                   config.target_vocabulary - 2, " words; use 1 to ",
                                                   config.target_vocabulary - 2));
  }
  return absl::OkStatus();
}

struct Finished {
  std::unique_ptr<Module> module;
  std::vector<std::string> weights;
};

// Builds the module; its parameters are `first`, then the weights.
absl::StatusOr<Finished> Finish(absl::Span<const Value> results, absl::Span<const Value> first,
                                ModelBuilder* m) {
  Finished finished;
  ASSIGN_OR_RETURN(finished.module, m->b().Build(m->b().Tuple(results)));
  EliminateDeadCode(finished.module.get());
  std::vector<Value> parameters(first.begin(), first.end());
  for (const ModelWeight& weight : m->weights()) {
    parameters.push_back(weight.value);
    finished.weights.push_back(weight.name);
  }
  RETURN_IF_ERROR(NumberParameters(parameters, finished.module->entry()));
  return finished;
}

// Builds a step for all beams; each beam is a sequence of K tokens.
class StepBuilder {
 public:
  StepBuilder(const MoeTransformerConfig& config, const DecodeOptions& options, ModelBuilder* m)
      : options_(options),
        m_(*m),
        b_(m->b()),
        g_(config.groups),
        sentences_(config.sequences),
        k_(options.search.beam),
        slots_(options.steps * options.search.beam),
        stack_(nullptr, m) {}

  absl::StatusOr<DecodeStep> Build(int64_t source_length);

 private:
  void AddState(const std::string& name, PrimitiveType type, const Sizes& dims);
  Value AddMemory(const std::string& name, PrimitiveType type, const Sizes& dims);
  // The next array of the old state.
  Value Next() { return old_[new_.size()]; }
  // Writes `values` [G,B,K,...] to this step's slots of x.
  Value Write(Value x, Value values);
  Value SelfAttention(Value x, const std::string& layer);
  Value CrossAttention(Value x, const KeysAndValues& source, Value present, const std::string& layer);
  Value LogProbabilities(Value x, Value softmax);
  Hypotheses Before();

  const DecodeOptions& options_;
  ModelBuilder& m_;
  Builder& b_;
  const int64_t g_, sentences_, k_, slots_;
  LayerStack stack_;
  std::vector<std::string> names_;
  std::vector<Value> old_, new_, memory_;
  Value first_slot_ = nullptr;  // s32[]: the slot of hypothesis 0 at this step.
  Value visible_ = nullptr;     // pred[G,B,K,slots]
};

void StepBuilder::AddState(const std::string& name, PrimitiveType type, const Sizes& dims) {
  names_.push_back(name);
  Value value = b_.Parameter(Shape(type, dims), name);
  old_.push_back(dims.empty() ? b_.Replicate(value) : m_.SplitGroups(value));
}

Value StepBuilder::AddMemory(const std::string& name, PrimitiveType type, const Sizes& dims) {
  memory_.push_back(m_.SplitGroups(b_.Parameter(Shape(type, dims), name)));
  return memory_.back();
}

Value StepBuilder::Write(Value x, Value values) {
  std::vector<Value> starts(x->shape().rank(), b_.Zero(xla::S32));
  starts[2] = first_slot_;
  return b_.DynamicUpdateSlice(x, values, starts);
}

Value StepBuilder::SelfAttention(Value x, const std::string& layer) {
  Builder::Scope scope(&b_, "self_attention");
  const std::string name = layer + ".self";
  Value normal = LayerNorm(x, layer + ".self_norm", &m_);
  Value queries = Queries(normal, name, &m_);
  KeysAndValues memory = KeysAndValuesOf(normal, name, &m_);
  memory.keys = Write(Next(), memory.keys);
  new_.push_back(memory.keys);
  memory.values = Write(Next(), memory.values);
  new_.push_back(memory.values);
  return b_.Add(x, Attend(queries, memory, {.visible = visible_}, name, &m_));
}

Value StepBuilder::CrossAttention(Value x, const KeysAndValues& source, Value present,
                                  const std::string& layer) {
  Builder::Scope scope(&b_, "cross_attention");
  const std::string name = layer + ".cross";
  Value queries = Queries(LayerNorm(x, layer + ".cross_norm", &m_), name, &m_);
  return b_.Add(x, Attend(queries, source, {.present = present}, name, &m_));
}

Value StepBuilder::LogProbabilities(Value x, Value softmax) {
  Builder::Scope scope(&b_, "log_probabilities");
  Value logits = b_.Convert(b_.Einsum("GBLM,VM->GBLV", x, m_.Activation(softmax)), xla::F32);
  const Sizes dims = SizesOf(logits);
  const auto [shifted, log_sum] = ShiftLogits(logits, &m_);
  return b_.Subtract(shifted, m_.Spread(log_sum, SizesOf(logits), {0, 1, 2}));
}

Hypotheses StepBuilder::Before() {
  Hypotheses now;
  now.log_probability = old_[DecodeState::kLogProbability];
  now.length = old_[DecodeState::kLength];
  now.finished = old_[DecodeState::kFinished];
  const Sizes gbks = {g_, sentences_, k_, slots_};
  Value slot = b_.Iota(xla::S32, {k_, slots_}, 1), place = b_.Iota(xla::S32, {k_, slots_}, 0);
  Value is_own = b_.Compare(slot, b_.Add(b_.Broadcast(first_slot_, {k_, slots_}), place), "EQ");
  // A finished hypothesis takes no more slots.
  Value is_added = b_.And(m_.Spread(is_own, gbks, {2, 3}), m_.Spread(b_.Not(now.finished), gbks, {0, 1, 2}));
  now.mask = visible_ = b_.Or(old_[DecodeState::kMask], is_added);
  return now;
}

absl::StatusOr<DecodeStep> StepBuilder::Build(int64_t source_length) {
  const MoeTransformerConfig& config = m_.config();
  const int64_t layers = config.layers / 2;
  AddState("step", xla::S32, {});
  AddState("words", xla::S32, {g_, sentences_, slots_ + k_});
  AddState("mask", xla::PRED, {g_, sentences_, k_, slots_});
  AddState("log_probability", xla::F32, {g_, sentences_, k_});
  AddState("length", xla::S32, {g_, sentences_, k_});
  AddState("finished", xla::PRED, {g_, sentences_, k_});
  for (int64_t i = 0; i < layers; ++i) {
    for (const char* what : {"keys", "values"}) {
      AddState(LayerName(what, i), config.type, {g_, sentences_, slots_, config.heads, config.head_dim});
    }
  }
  std::vector<KeysAndValues> source(layers);
  const Sizes source_dims = {g_, sentences_, source_length, config.heads, config.head_dim};
  for (int64_t i = 0; i < layers; ++i) {
    source[i].keys = AddMemory(LayerName("source_keys", i), config.type, source_dims);
    source[i].values = AddMemory(LayerName("source_values", i), config.type, source_dims);
  }
  Value present = nullptr;
  if (config.padding)
    present = AddMemory(std::string(kSourcePresent), xla::PRED, {g_, sentences_, source_length});

  Value step = old_[DecodeState::kStep], words = old_[DecodeState::kWords];
  first_slot_ = b_.Multiply(step, b_.IntScalar(k_));
  const Hypotheses now = Before();
  const Tables tables = MakeTables(&m_, {.source = false});
  new_.resize(DecodeState::kCount);
  Value x = EmbedAt(step, tables.target, b_.DynamicSliceAlong(words, 2, first_slot_, k_), &m_);
  Value is_open = b_.Not(now.finished);
  {
    Builder::Scope scope(&b_, "decoder");
    for (int64_t i = 0; i < layers; ++i) {
      const std::string layer = LayerName("decoder", i);
      Builder::Scope layer_scope(&b_, absl::StrCat("layer_", i));
      x = SelfAttention(x, layer);
      x = CrossAttention(x, source[i], present, layer);
      x = stack_.FeedForward(x, is_open, /*is_moe=*/i % 2 == 1, layer);
    }
    x = LayerNorm(x, "decoder.norm", &m_);
  }
  Value log_probabilities = LogProbabilities(x, tables.softmax);
  Builder::Scope scope(&b_, "beam_search");
  const Hypotheses next = RankHypotheses(now, log_probabilities, step, options_.search, &b_);
  new_[DecodeState::kStep] = b_.AddNumber(step, 1);
  Value next_slot = b_.Add(first_slot_, b_.IntScalar(k_));
  new_[DecodeState::kWords] =
      b_.DynamicUpdateSlice(words, next.words, {b_.Zero(xla::S32), b_.Zero(xla::S32), next_slot});
  new_[DecodeState::kMask] = next.mask;
  new_[DecodeState::kLogProbability] = next.log_probability;
  new_[DecodeState::kLength] = next.length;
  new_[DecodeState::kFinished] = next.finished;

  DecodeStep result;
  result.state = names_;
  result.memory = MemoryNames(config);
  std::vector<Value> results = new_, before_weights = old_;
  results.push_back(b_.Sum(b_.Convert(b_.Not(next.finished), xla::S32), {0, 1, 2}));
  before_weights.insert(before_weights.end(), memory_.begin(), memory_.end());
  ASSIGN_OR_RETURN(Finished finished, Finish(results, before_weights, &m_));
  result.module = std::move(finished.module);
  result.weights = std::move(finished.weights);
  DonateState(static_cast<int64_t>(result.state.size()), result.module.get());
  return result;
}

}  // namespace

absl::StatusOr<Encoding> BuildEncoding(const MoeTransformerConfig& given, const DecodeOptions& options) {
  MoeTransformerConfig config = given;
  RETURN_IF_ERROR(CheckCapacity(options.encoder_capacity));
  config.expert_capacity =
      options.encoder_capacity > 0 ? options.encoder_capacity : config.tokens_per_group();
  RETURN_IF_ERROR(config.Check());
  ModelBuilder m(config, "encoding");
  Builder& b = m.b();
  const Shape tokens(xla::S32, {config.groups, config.sequences, config.sequence_length});
  Value source = m.SplitGroups(b.Parameter(tokens, "source_tokens"));
  Value present = Present(source, &m);
  const Tables tables = MakeTables(&m, {.target = false});
  LayerStack stack(nullptr, &m);
  Value encoded = stack.Run(Embed(tables.source, source, &m), present, nullptr, nullptr, "encoder");
  std::vector<Value> results;
  for (int64_t i = 0; i < config.layers / 2; ++i) {
    const KeysAndValues memory = KeysAndValuesOf(encoded, LayerName("decoder", i) + ".cross", &m);
    results.push_back(m.SplitGroups(memory.keys));
    results.push_back(m.SplitGroups(memory.values));
  }
  if (present != nullptr) results.push_back(m.SplitGroups(present));
  ASSIGN_OR_RETURN(Finished finished, Finish(results, {source}, &m));
  return Encoding{std::move(finished.module), std::move(finished.weights)};
}

absl::StatusOr<DecodeStep> BuildDecodeStep(const MoeTransformerConfig& given, const DecodeOptions& options) {
  MoeTransformerConfig config = given;
  config.sequence_length = options.search.beam;
  RETURN_IF_ERROR(CheckSearch(config, options));
  config.expert_capacity = options.step_capacity > 0 ? options.step_capacity : config.tokens_per_group();
  RETURN_IF_ERROR(config.Check());
  ModelBuilder m(config, "decode_step");
  StepBuilder builder(config, options, &m);
  return builder.Build(given.sequence_length);
}

}  // namespace toroid
