// Translation from many languages to English, by characters: training batches and held-out sentences.
//
// A sentence gives three rows, here for L = 8:
//   source  <de> S p a n i e n      the token of its language, its characters
//   target  <begin> S p a i n       the input of the decoder
//   labels  S p a i n <end>         the expected output
// Each is padded with 0. Sentences longer than L - 1 characters on either side are left out. A share of the
// English names is held out: no language trains on one of these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "examples/data/corpus.h"
#include "examples/data/vocabulary.h"
#include "hlo/ir/literal.h"

namespace toroid {

struct TaskOptions {
  int64_t length = 24;                                       // L
  int64_t source_vocabulary = 1024, target_vocabulary = 96;  // Most tokens; rare characters are unknown.
  double held_out = 0.05;                                    // Share of the English names, in (0, 1).
  // Languages with fewer training sentences are left out, and so are languages with no held-out sentence.
  int64_t min_sentences = 40;
  // The language of a training sentence is drawn with probability proportional to (its sentences)^(1 /
  // temperature).
  double temperature = 1;
  uint64_t seed = 1;
};

struct TranslationBatch {
  std::vector<Literal> Inputs() const { return {source, target, labels}; }

  Literal source, target, labels;  // s32[G,B,L]
  std::vector<int> sentences;      // [G*B], indices for TranslationTask::sentence.
};

class TranslationTask {
 public:
  struct Language {
    std::string name;
    int64_t training = 0, held_out = 0;  // Numbers of sentences.
  };

  // Errors: kInvalidArgument if no sentence is left to train on or to hold out, or if the vocabulary has no
  // room for characters.
  static absl::StatusOr<TranslationTask> Create(Corpus corpus, const TaskOptions& options);

  // Languages with the most sentences first.
  const std::vector<Language>& languages() const { return languages_; }
  const Sentence& sentence(int i) const { return sentences_[i]; }
  const Vocabulary& source_vocabulary() const { return source_vocabulary_; }
  const Vocabulary& target_vocabulary() const { return target_vocabulary_; }
  int64_t length() const { return options_.length; }

  // The batch of a step; depends on the seed and the step alone.
  TranslationBatch TrainingBatch(int64_t step, int64_t groups, int64_t sequences) const;
  // Batch `index` of held-out sentences: drawn evenly from all of them, or from the languages in turn.
  enum class HeldOut { kBySentences, kByLanguages };
  TranslationBatch HeldOutBatch(HeldOut kind, int64_t index, int64_t groups, int64_t sequences) const;

  // The encoder's input for a sentence, [L]. language: index into languages().
  // Errors: kInvalidArgument for more characters than L - 1.
  absl::StatusOr<std::vector<int32_t>> EncodeSource(int language, absl::string_view source) const;
  // Index into languages(); nullopt if no language has this name.
  std::optional<int> FindLanguage(absl::string_view name) const;
  // Indices for sentence(): the training sentences of a language; all held-out sentences, in a seeded order.
  const std::vector<int>& training_sentences(int language) const { return training_[language]; }
  const std::vector<int>& held_out_sentences() const { return all_held_out_; }

  // One line: the numbers of languages and sentences, and their origin.
  std::string Summary() const;
  // A 64-bit hash of the languages, the numbers of sentences and the vocabularies.
  std::string Fingerprint() const;
  // A table: language, number of training sentences, number of held-out sentences.
  std::string LanguagesTsv() const;

 private:
  void Split(const std::vector<Sentence>& sentences, const std::vector<std::string>& names);
  TranslationBatch MakeBatch(std::vector<int> sentences, int64_t groups, int64_t sequences) const;

  TaskOptions options_;
  std::string origin_;
  std::vector<Language> languages_;
  std::vector<Sentence> sentences_;         // Their language is an index into languages_.
  std::vector<std::vector<int>> training_;  // Sentences by language.
  std::vector<std::vector<int>> held_out_;  // Held-out sentences by language.
  std::vector<int> all_held_out_;           // All held-out sentences, in a seeded order.
  std::vector<double> cumulative_;          // Probability of languages 0 .. i.
  Vocabulary source_vocabulary_, target_vocabulary_;
};

// Keeps labels only in the rows of these languages. Inputs stay, so tokens of other languages still go to the
// experts.
TranslationBatch WithLabelsOf(const TranslationBatch& batch, const TranslationTask& task, int first_language,
                              int last_language);

}  // namespace toroid
