// Translating from many languages to English, by characters: training batches and held-out sentences.
//
// Of a sentence, for L = 8:
//   source  <de> S p a n i e n      the token of its language, its characters
//   target  <begin> S p a i n       what the decoder is given
//   labels  S p a i n <end>         what it should say
// each padded with 0. Sentences longer than L - 1 characters on either side are left out. A share of the English names is
// held out: in no language is one of them trained on.
#ifndef TOROID_EXAMPLES_DATA_TRANSLATION_TASK_H_
#define TOROID_EXAMPLES_DATA_TRANSLATION_TASK_H_

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
  int64_t source_vocabulary = 1024, target_vocabulary = 96;  // At most; rare characters are unknown.
  double held_out = 0.05;                                    // Share of the English names, in (0, 1).
  // Languages with fewer sentences to train on are left out, and so are those with none held out.
  int64_t min_sentences = 40;
  // A training sentence is of a language with probability proportional to (its sentences)^(1 / temperature).
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
    int64_t training = 0, held_out = 0;  // Sentences.
  };

  // Errors: kInvalidArgument if nothing is left to train on or to hold out, or the vocabulary has no room for characters.
  static absl::StatusOr<TranslationTask> Create(Corpus corpus, const TaskOptions& options);

  // Those with most sentences first.
  const std::vector<Language>& languages() const { return languages_; }
  const Sentence& sentence(int i) const { return sentences_[i]; }
  const Vocabulary& source_vocabulary() const { return source_vocabulary_; }
  const Vocabulary& target_vocabulary() const { return target_vocabulary_; }
  int64_t length() const { return options_.length; }

  // The batch of a step, by seed and step alone.
  TranslationBatch TrainingBatch(int64_t step, int64_t groups, int64_t sequences) const;
  // Batch `index` of held-out sentences: drawn evenly from all of them, or from one language after the other.
  enum class HeldOut { kBySentences, kByLanguages };
  TranslationBatch HeldOutBatch(HeldOut kind, int64_t index, int64_t groups, int64_t sequences) const;

  // What the encoder is given of a sentence, [L]. language: index into languages().
  // Errors: kInvalidArgument for more characters than L - 1.
  absl::StatusOr<std::vector<int32_t>> EncodeSource(int language, absl::string_view source) const;
  // Index into languages(); none if it has no language of this name.
  std::optional<int> FindLanguage(absl::string_view name) const;
  // Indices for sentence(): what is trained on of a language; all that is held out, in a seeded order.
  const std::vector<int>& training_sentences(int language) const { return training_[language]; }
  const std::vector<int>& held_out_sentences() const { return all_held_out_; }

  // One line: how many languages and sentences, and from where.
  std::string Summary() const;
  // The same for the same languages, numbers of sentences and vocabularies; hardly ever for others.
  std::string Fingerprint() const;
  // A table: language, sentences trained on, held out.
  std::string LanguagesTsv() const;

 private:
  void Split(const std::vector<Sentence>& sentences, const std::vector<std::string>& names);
  TranslationBatch MakeBatch(std::vector<int> sentences, int64_t groups, int64_t sequences) const;

  TaskOptions options_;
  std::string origin_;
  std::vector<Language> languages_;
  std::vector<Sentence> sentences_;         // Their language: index into languages_.
  std::vector<std::vector<int>> training_;  // Sentences by language.
  std::vector<std::vector<int>> held_out_;  // The same.
  std::vector<int> all_held_out_;           // In a seeded order.
  std::vector<double> cumulative_;          // Probability of languages 0 .. i.
  Vocabulary source_vocabulary_, target_vocabulary_;
};

// Labels only for the rows of these languages; all else stays, so that the others' tokens go to the experts as before.
TranslationBatch WithLabelsOf(const TranslationBatch& batch, const TranslationTask& task, int first_language,
                              int last_language);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_DATA_TRANSLATION_TASK_H_
