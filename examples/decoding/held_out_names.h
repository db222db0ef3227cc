// Decodes held-out names on the mesh and compares them with the reference and with the nearest training name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "examples/data/translation_task.h"
#include "examples/decoding/beam_decoder.h"
#include "examples/moe/config.h"

namespace toroid {

struct SourceSentence {
  int language;  // Index into TranslationTask::languages.
  std::string source;
};

// A decoder of the task's sentences, at most `sentences` at a time, for a model of this configuration. Each
// sentence is a group, and experts have room for all tokens. Errors: those of BeamDecoder::Create.
absl::StatusOr<std::unique_ptr<BeamDecoder>> MakeTaskDecoder(const TranslationTask& task,
                                                             MoeTransformerConfig config,
                                                             const BeamOptions& search, int64_t sentences,
                                                             int threads = 0);

// The English of each sentence's best hypothesis. Errors: those of EncodeSource and BeamDecoder::Decode.
absl::StatusOr<std::vector<std::string>> Translate(const TranslationTask& task,
                                                   absl::Span<const SourceSentence> sentences,
                                                   BeamDecoder& decoder);

struct TranslatedName {
  int sentence;  // Index for TranslationTask::sentence.
  std::string decoded;
  std::string copied;  // English of the nearest training name in the same language (nearest_name.h).
};

// The first `count` held-out sentences, or all if there are fewer.
absl::StatusOr<std::vector<TranslatedName>> TranslateHeldOut(const TranslationTask& task, int64_t count,
                                                             BeamDecoder& decoder);

// Quality of translated names.
struct TranslationQuality {
  double exact = 0;     // Share of names that equal the reference.
  double distance = 0;  // Mean of the normalized edit distances to the reference.
};
struct QualityBeside {
  TranslationQuality decoded, copied;
};
QualityBeside Judge(const TranslationTask& task, absl::Span<const TranslatedName> names);

// Lines "language  source  reference  decoded" of the first `rows`, in columns.
std::string NamesTable(const TranslationTask& task, absl::Span<const TranslatedName> names, int64_t rows);
// Three lines: the number of names, then exact matches and distances, decoded and copied.
std::string QualityTable(int64_t names, const QualityBeside& quality);

}  // namespace toroid
