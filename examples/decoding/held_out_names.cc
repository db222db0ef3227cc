#include "examples/decoding/held_out_names.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "examples/data/vocabulary.h"
#include "examples/decoding/nearest_name.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// The text, padded with blanks to this many characters.
std::string Padded(const std::string& text, int64_t width) {
  const int64_t characters = static_cast<int64_t>(Characters(text).size());
  return absl::StrCat(text, std::string(std::max<int64_t>(0, width - characters), ' '));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BeamDecoder>> MakeTaskDecoder(const TranslationTask& task,
                                                             MoeTransformerConfig config,
                                                             const BeamOptions& search, int64_t sentences,
                                                             int threads) {
  config.groups = sentences;
  config.sequences = 1;
  config.sequence_length = task.length();
  DecodeOptions options;
  options.search = search;
  options.search.padding = Vocabulary::kPadding;
  options.search.begin = Vocabulary::kBegin;
  options.search.end = Vocabulary::kEnd;
  options.steps = task.length();
  return BeamDecoder::Create(config, options, threads);
}

absl::StatusOr<std::vector<std::string>> Translate(const TranslationTask& task,
                                                   absl::Span<const SourceSentence> sentences,
                                                   BeamDecoder& decoder) {
  const int64_t at_a_time = decoder.sentences(), length = task.length();
  std::vector<std::string> texts;
  for (size_t first = 0; first < sentences.size(); first += at_a_time) {
    const auto part = sentences.subspan(first, at_a_time);
    Literal source(Shape(xla::S32, {at_a_time, 1, length}));
    for (size_t i = 0; i < part.size(); ++i) {
      ASSIGN_OR_RETURN(const std::vector<int32_t> tokens,
                       task.EncodeSource(part[i].language, part[i].source));
      std::copy(tokens.begin(), tokens.end(), source.mutable_data<int32_t>().begin() + i * length);
    }
    ASSIGN_OR_RETURN(const auto decoded, decoder.Decode(source));
    for (size_t i = 0; i < part.size(); ++i)
      texts.push_back(task.target_vocabulary().Decode(decoded[i][0].words));
  }
  return texts;
}

absl::StatusOr<std::vector<TranslatedName>> TranslateHeldOut(const TranslationTask& task, int64_t count,
                                                             BeamDecoder& decoder) {
  const std::vector<int>& held_out = task.held_out_sentences();
  count = std::min<int64_t>(count, static_cast<int64_t>(held_out.size()));
  std::vector<SourceSentence> sources;
  for (int64_t i = 0; i < count; ++i) {
    const Sentence& sentence = task.sentence(held_out[i]);
    sources.push_back({sentence.language, sentence.source});
  }
  ASSIGN_OR_RETURN(std::vector<std::string> decoded, Translate(task, sources, decoder));
  std::vector<TranslatedName> names;
  for (int64_t i = 0; i < count; ++i) {
    names.push_back({held_out[i], std::move(decoded[i]),
                     NearestSentence(task, sources[i].language, sources[i].source).english});
  }
  return names;
}

QualityBeside Judge(const TranslationTask& task, absl::Span<const TranslatedName> names) {
  QualityBeside quality;
  const double share = names.empty() ? 0 : 1 / static_cast<double>(names.size());
  for (const TranslatedName& name : names) {
    const std::string& reference = task.sentence(name.sentence).english;
    const auto add = [&](const std::string& text, TranslationQuality& to) {
      to.exact += text == reference ? share : 0;
      to.distance += share * NormalizedEditDistance(text, reference);
    };
    add(name.decoded, quality.decoded);
    add(name.copied, quality.copied);
  }
  return quality;
}

std::string NamesTable(const TranslationTask& task, absl::Span<const TranslatedName> names, int64_t rows) {
  names = names.subspan(0, std::max<int64_t>(rows, 0));
  const int64_t width = task.length() + 1;
  std::string table = absl::StrCat("  ", Padded("language", 10), Padded("name", width),
                                   Padded("in English", width), "decoded\n");
  for (const TranslatedName& name : names) {
    const Sentence& sentence = task.sentence(name.sentence);
    absl::StrAppend(&table, "  ", Padded(task.languages()[sentence.language].name, 10),
                    Padded(sentence.source, width), Padded(sentence.english, width), name.decoded, "\n");
  }
  return table;
}

std::string QualityTable(int64_t names, const QualityBeside& quality) {
  std::string table = absl::StrFormat("  %-38s %16s %28s\n", absl::StrCat(names, " held-out names"),
                                      "exactly right", "mean distance to English");
  const auto add = [&](const char* how, const TranslationQuality& of) {
    absl::StrAppendFormat(&table, "  %-38s %14.1f %% %28.3f\n", how, of.exact * 100, of.distance);
  };
  add("decoded by beam search", quality.decoded);
  add("English of the nearest training name", quality.copied);
  return table;
}

}  // namespace toroid
