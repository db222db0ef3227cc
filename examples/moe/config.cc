#include "examples/moe/config.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace toroid {

absl::StatusOr<Dispatch> ParseDispatch(absl::string_view word) {
  if (word == "einsum") return Dispatch::kEinsum;
  if (word == "gather") return Dispatch::kGather;
  return absl::InvalidArgumentError(absl::StrCat("no dispatch '", word, "': say einsum or gather"));
}

int64_t MoeTransformerConfig::Parts(int64_t size) const {
  int64_t parts = std::min(size, devices);
  while (devices % parts != 0) --parts;
  return parts;
}

absl::Status MoeTransformerConfig::Check() const {
  if (experts < 0) return absl::InvalidArgumentError("experts are 1 or more, or 0 for dense layers");
  for (const int64_t size : {devices, layers, groups, stages, microbatches, sequences, sequence_length, model,
                             hidden, heads, head_dim, source_vocabulary, target_vocabulary}) {
    if (size < 1) return absl::InvalidArgumentError("a size of the model is not positive");
  }
  if (expert_capacity < 0) return absl::InvalidArgumentError("the experts' capacity is negative");
  if (layers % 2 != 0) return absl::InvalidArgumentError("layers must be even: half are in each stack");
  for (const double rate : {dropout, label_smoothing}) {
    if (!(rate >= 0 && rate < 1))
      return absl::InvalidArgumentError("dropout and label smoothing must be in [0, 1)");
  }
  if (stages > 1) {
    if (experts > 0 || padding)
      return absl::InvalidArgumentError("pipelines have neither experts nor padding");
    if (layers / 2 % stages != 0 || groups % stages != 0 || devices % stages != 0 ||
        microbatches % stages != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a pipeline of ", stages, " stages needs layers of a stack (", layers / 2, "), groups (", groups,
          "), devices (", devices, ") and microbatches (", microbatches, ") that are multiples of them"));
    }
    if (groups % devices != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a pipeline needs as many groups (", groups, ") on each of ", devices, " devices"));
    }
    if (sequences % (microbatches / stages) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(sequences, " sequences of a group do not come out in ",
                                                     microbatches / stages,
                                                     " (microbatches / stages) parts"));
    }
  }
  if (dispatch == Dispatch::kGather && groups % Parts(groups) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("dispatch by gather writes a program for each device: ", groups,
                     " groups must be a multiple of their ", Parts(groups), " parts"));
  }
  return absl::OkStatus();
}

MoeTransformerConfig PaperConfig(int64_t experts, int64_t layers) {
  MoeTransformerConfig config;
  config.devices = config.groups = config.experts = experts;
  config.layers = layers;
  config.bf16_hidden = config.bf16_scores = true;
  if (layers == 60) config.type = xla::BF16;
  return config;
}

absl::StatusOr<MoeTransformerConfig> PaperConfig(absl::string_view name) {
  if (name == "t_96l") {
    MoeTransformerConfig config = PaperConfig(2048, 96);
    config.experts = 0;
    config.head_dim = 64;
    config.stages = 16;
    config.sequences = 8;
    config.sequence_length = 256;
    config.microbatches = 64;
    return config;
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '_');
  int64_t experts = 0, layers = 0;
  if (parts.size() == 2 && absl::EndsWith(parts[0], "e") && absl::EndsWith(parts[1], "l") &&
      absl::SimpleAtoi(absl::StripSuffix(parts[0], "e"), &experts) &&
      absl::SimpleAtoi(absl::StripSuffix(parts[1], "l"), &layers) && experts > 0 && layers > 0 &&
      layers % 2 == 0) {
    return PaperConfig(experts, layers);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no model '", name,
                   "': say experts and layers, as 2048e_36l, 2048e_12l, 512e_36l, 512e_12l, 128e_36l, "
                   "128e_12l or 2048e_60l of the paper's Table 1, or t_96l"));
}

MoeTransformerConfig TinyConfig() {
  MoeTransformerConfig config;
  config.devices = config.groups = 2;
  config.layers = 4;
  config.experts = 4;
  config.sequences = 2;
  config.sequence_length = 4;
  config.model = 8;
  config.hidden = 16;
  config.heads = 2;
  config.head_dim = 4;
  config.source_vocabulary = 12;
  config.target_vocabulary = 10;
  return config;
}

}  // namespace toroid
