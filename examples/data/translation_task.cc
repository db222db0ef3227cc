#include "examples/data/translation_task.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "examples/data/counter_random.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

// Purposes of random draws, used as counters.
enum : uint64_t { kHoldOut, kTraining, kOrder };

void Shuffle(CounterRandom random, std::vector<int>& values) {
  for (int64_t i = static_cast<int64_t>(values.size()) - 1; i > 0; --i)
    std::swap(values[i], values[random.Below(i + 1)]);
}

bool IsHeldOut(const std::string& english, const TaskOptions& options) {
  return CounterRandom(options.seed, {kHoldOut, TextCounter(english)}).Uniform() < options.held_out;
}

bool Fits(const Sentence& sentence, int64_t length) {
  return static_cast<int64_t>(Characters(sentence.source).size()) < length &&
         static_cast<int64_t>(Characters(sentence.english).size()) < length;
}

absl::Status CheckOptions(const TaskOptions& options) {
  if (options.length < 2) return absl::InvalidArgumentError("sentences need a length of at least 2");
  if (!(options.held_out > 0 && options.held_out < 1)) {
    return absl::InvalidArgumentError("the share of names held out must be between 0 and 1");
  }
  if (!(options.temperature > 0)) return absl::InvalidArgumentError("the temperature must be above 0");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TranslationTask> TranslationTask::Create(Corpus corpus, const TaskOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  TranslationTask task;
  task.options_ = options;
  task.origin_ = corpus.origin;
  task.Split(corpus.sentences, corpus.languages);
  if (task.languages_.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("no language has ", options.min_sentences,
                                                   " sentences of fewer than ", options.length,
                                                   " characters to train on, and some to hold out"));
  }
  std::vector<absl::string_view> source, target;
  for (const std::vector<int>& sentences : task.training_) {
    for (const int i : sentences) {
      source.push_back(task.sentences_[i].source);
      target.push_back(task.sentences_[i].english);
    }
  }
  const int64_t languages = static_cast<int64_t>(task.languages_.size());
  task.source_vocabulary_ = Vocabulary(source, options.source_vocabulary, languages);
  task.target_vocabulary_ = Vocabulary(target, options.target_vocabulary, 0);
  if (options.source_vocabulary <= Vocabulary::kFirstReserved + languages ||
      options.target_vocabulary <= Vocabulary::kFirstReserved) {
    return absl::InvalidArgumentError(
        absl::StrCat("vocabularies of ", options.source_vocabulary, " and ", options.target_vocabulary,
                     " tokens have no room for characters beside ", languages, " languages"));
  }
  return task;
}

void TranslationTask::Split(const std::vector<Sentence>& sentences, const std::vector<std::string>& names) {
  // Sentences by language of the corpus: for training, and held out.
  std::vector<std::vector<const Sentence*>> training(names.size()), held_out(names.size());
  for (const Sentence& sentence : sentences) {
    if (!Fits(sentence, options_.length)) continue;
    (IsHeldOut(sentence.english, options_) ? held_out : training)[sentence.language].push_back(&sentence);
  }
  std::vector<int> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return training[a].size() > training[b].size(); });
  const auto take = [&](const std::vector<const Sentence*>& from) {
    std::vector<int> indices;
    for (const Sentence* sentence : from) {
      indices.push_back(static_cast<int>(sentences_.size()));
      sentences_.push_back({static_cast<int>(languages_.size()), sentence->source, sentence->english});
    }
    return indices;
  };
  double total = 0;
  for (const int k : order) {
    if (static_cast<int64_t>(training[k].size()) < std::max<int64_t>(1, options_.min_sentences) ||
        held_out[k].empty())
      continue;
    training_.push_back(take(training[k]));
    held_out_.push_back(take(held_out[k]));
    all_held_out_.insert(all_held_out_.end(), held_out_.back().begin(), held_out_.back().end());
    Shuffle(CounterRandom(options_.seed, {kOrder, TextCounter(names[k])}), held_out_.back());
    cumulative_.push_back(total +=
                          std::pow(static_cast<double>(training[k].size()), 1 / options_.temperature));
    languages_.push_back(
        {names[k], static_cast<int64_t>(training[k].size()), static_cast<int64_t>(held_out[k].size())});
  }
  for (double& probability : cumulative_) probability /= total;
  Shuffle(CounterRandom(options_.seed, {kOrder}), all_held_out_);
}

TranslationBatch TranslationTask::MakeBatch(std::vector<int> sentences, int64_t groups,
                                            int64_t sequences) const {
  const Shape shape(xla::S32, {groups, sequences, options_.length});
  TranslationBatch batch = {Literal(shape), Literal(shape), Literal(shape), std::move(sentences)};
  const absl::Span<int32_t> source = batch.source.mutable_data<int32_t>(),
                            target = batch.target.mutable_data<int32_t>(),
                            labels = batch.labels.mutable_data<int32_t>();
  for (size_t row = 0; row < batch.sentences.size(); ++row) {
    const Sentence& sentence = sentences_[batch.sentences[row]];
    const size_t at = row * options_.length;
    const absl::StatusOr<std::vector<int32_t>> from = EncodeSource(sentence.language, sentence.source);
    TOROID_CHECK(from.ok(), from.status().ToString());  // Longer sentences were left out.
    std::copy(from->begin(), from->end(), source.begin() + at);
    target[at] = Vocabulary::kBegin;
    const std::vector<int32_t> to = target_vocabulary_.Encode(sentence.english);
    std::copy(to.begin(), to.end(), target.begin() + at + 1);
    std::copy(to.begin(), to.end(), labels.begin() + at);
    labels[at + to.size()] = Vocabulary::kEnd;
  }
  return batch;
}

TranslationBatch TranslationTask::TrainingBatch(int64_t step, int64_t groups, int64_t sequences) const {
  std::vector<int> rows(groups * sequences);
  for (size_t row = 0; row < rows.size(); ++row) {
    CounterRandom random(options_.seed, {kTraining, static_cast<uint64_t>(step), row});
    const auto it = std::upper_bound(cumulative_.begin(), cumulative_.end(), random.Uniform());
    const std::vector<int>& sentences =
        training_[std::min<size_t>(it - cumulative_.begin(), training_.size() - 1)];
    rows[row] = sentences[random.Below(static_cast<int64_t>(sentences.size()))];
  }
  return MakeBatch(std::move(rows), groups, sequences);
}

TranslationBatch TranslationTask::HeldOutBatch(HeldOut kind, int64_t index, int64_t groups,
                                               int64_t sequences) const {
  std::vector<int> rows(groups * sequences);
  for (size_t row = 0; row < rows.size(); ++row) {
    const size_t at = index * rows.size() + row;
    const std::vector<int>& sentences =
        kind == HeldOut::kBySentences ? all_held_out_ : held_out_[at % held_out_.size()];
    rows[row] = sentences[(kind == HeldOut::kBySentences ? at : at / held_out_.size()) % sentences.size()];
  }
  return MakeBatch(std::move(rows), groups, sequences);
}

absl::StatusOr<std::vector<int32_t>> TranslationTask::EncodeSource(int language,
                                                                   absl::string_view source) const {
  const std::vector<int32_t> characters = source_vocabulary_.Encode(source);
  if (static_cast<int64_t>(characters.size()) >= options_.length) {
    return absl::InvalidArgumentError(absl::StrCat("the sentence has ", characters.size(),
                                                   " characters, the model takes at most ",
                                                   options_.length - 1));
  }
  std::vector<int32_t> tokens(options_.length);
  tokens[0] = static_cast<int32_t>(Vocabulary::kFirstReserved + language);
  std::copy(characters.begin(), characters.end(), tokens.begin() + 1);
  return tokens;
}

std::optional<int> TranslationTask::FindLanguage(absl::string_view name) const {
  for (size_t i = 0; i < languages_.size(); ++i) {
    if (languages_[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::string TranslationTask::Summary() const {
  int64_t training = 0;
  for (const Language& language : languages_) training += language.training;
  return absl::StrFormat("%d languages, %d sentences to train on, %d held out (%s)", languages_.size(),
                         training, all_held_out_.size(), origin_);
}

std::string TranslationTask::Fingerprint() const {
  std::string all = LanguagesTsv();
  for (const Vocabulary* vocabulary : {&source_vocabulary_, &target_vocabulary_}) {
    for (int32_t token = 0; token < vocabulary->size(); ++token)
      absl::StrAppend(&all, vocabulary->Decode({token}), "\n");
  }
  return absl::StrFormat("%016x", TextCounter(all));
}

std::string TranslationTask::LanguagesTsv() const {
  std::string table = "language\ttraining\theld_out\n";
  for (const Language& language : languages_) {
    absl::StrAppend(&table, language.name, "\t", language.training, "\t", language.held_out, "\n");
  }
  return table;
}

TranslationBatch WithLabelsOf(const TranslationBatch& batch, const TranslationTask& task, int first_language,
                              int last_language) {
  TranslationBatch masked = batch;
  const absl::Span<int32_t> labels = masked.labels.mutable_data<int32_t>();
  for (size_t row = 0; row < batch.sentences.size(); ++row) {
    const int language = task.sentence(batch.sentences[row]).language;
    if (first_language <= language && language <= last_language) continue;
    std::fill_n(labels.begin() + row * task.length(), task.length(), Vocabulary::kPadding);
  }
  return masked;
}

}  // namespace toroid
