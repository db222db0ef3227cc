#include "examples/data/translation_task.h"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "examples/data/permuted_languages.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kGroups = 4, kSequences = 8;

TaskOptions SmallOptions() {
  TaskOptions options;
  options.source_vocabulary = 200;
  options.min_sentences = 5;
  options.held_out = 0.2;
  return options;
}

// The tokens of a row before its padding; nothing may follow the padding.
std::vector<int32_t> Row(const Literal& literal, size_t row, int64_t length) {
  const absl::Span<const int32_t> tokens = literal.data<int32_t>().subspan(row * length, length);
  std::vector<int32_t> kept(tokens.begin(), tokens.end());
  while (!kept.empty() && kept.back() == Vocabulary::kPadding) kept.pop_back();
  for (const int32_t token : kept) EXPECT_NE(token, Vocabulary::kPadding);
  return kept;
}

TEST(TranslationTaskTest, RowsAreSentencesAsTheHeaderSays) {
  ASSERT_OK_AND_ASSIGN(const auto task,
                       TranslationTask::Create(PermutedLanguages(6, 300, 1), SmallOptions()));
  const TranslationBatch batch = task.TrainingBatch(3, kGroups, kSequences);
  EXPECT_EQ(batch.source.shape().ToString(), "s32[4,8,24]");
  ASSERT_EQ(batch.sentences.size(), kGroups * kSequences);
  for (size_t row = 0; row < batch.sentences.size(); ++row) {
    const Sentence& sentence = task.sentence(batch.sentences[row]);
    const std::vector<int32_t> source = Row(batch.source, row, task.length()),
                               target = Row(batch.target, row, task.length()),
                               labels = Row(batch.labels, row, task.length());
    EXPECT_EQ(source[0], Vocabulary::kFirstReserved + sentence.language);
    EXPECT_EQ(task.source_vocabulary().Decode(source), sentence.source);
    EXPECT_EQ(target[0], Vocabulary::kBegin);
    EXPECT_EQ(task.target_vocabulary().Decode(target), sentence.english);
    EXPECT_EQ(task.target_vocabulary().Decode(labels), sentence.english);
    EXPECT_EQ(labels.back(), Vocabulary::kEnd);
    EXPECT_EQ(std::vector<int32_t>(target.begin() + 1, target.end()),
              std::vector<int32_t>(labels.begin(), labels.end() - 1));
  }
}

TEST(TranslationTaskTest, BatchesDependOnSeedAndStepAlone) {
  const Corpus corpus = PermutedLanguages(6, 300, 1);
  TaskOptions options = SmallOptions();
  ASSERT_OK_AND_ASSIGN(const auto task, TranslationTask::Create(corpus, options));
  ASSERT_OK_AND_ASSIGN(const auto again, TranslationTask::Create(corpus, options));
  const TranslationBatch first = task.TrainingBatch(7, kGroups, kSequences);
  again.TrainingBatch(1, kGroups, kSequences);
  const TranslationBatch second = again.TrainingBatch(7, kGroups, kSequences);
  EXPECT_EQ(first.source, second.source);
  EXPECT_EQ(first.target, second.target);
  EXPECT_EQ(first.labels, second.labels);
  EXPECT_NE(task.TrainingBatch(8, kGroups, kSequences).sentences, first.sentences);
  options.seed = 2;
  ASSERT_OK_AND_ASSIGN(const auto other, TranslationTask::Create(corpus, options));
  EXPECT_FALSE(other.TrainingBatch(7, kGroups, kSequences).source == first.source);
}

TEST(TranslationTaskTest, HeldOutNamesAreTrainedOnInNoLanguage) {
  ASSERT_OK_AND_ASSIGN(const auto task,
                       TranslationTask::Create(PermutedLanguages(6, 300, 1), SmallOptions()));
  std::set<std::string> trained, held_out;
  for (int64_t i = 0; i < 100; ++i) {
    for (const int s : task.TrainingBatch(i, kGroups, kSequences).sentences)
      trained.insert(task.sentence(s).english);
    for (const auto kind : {TranslationTask::HeldOut::kBySentences, TranslationTask::HeldOut::kByLanguages}) {
      for (const int s : task.HeldOutBatch(kind, i, kGroups, kSequences).sentences)
        held_out.insert(task.sentence(s).english);
    }
  }
  EXPECT_GT(trained.size(), 200);
  EXPECT_GT(held_out.size(), 30);
  for (const std::string& name : held_out) EXPECT_EQ(trained.count(name), 0) << name;
}

TEST(TranslationTaskTest, HeldOutBatchesGoThroughAllSentencesOrEvenlyThroughLanguages) {
  ASSERT_OK_AND_ASSIGN(const auto task,
                       TranslationTask::Create(PermutedLanguages(6, 300, 1), SmallOptions()));
  int64_t held_out = 0;
  for (const auto& language : task.languages()) held_out += language.held_out;
  std::set<int> seen;
  std::map<int, int> by_language;
  for (int64_t i = 0; i * kGroups * kSequences < held_out; ++i) {
    for (const int s :
         task.HeldOutBatch(TranslationTask::HeldOut::kBySentences, i, kGroups, kSequences).sentences)
      seen.insert(s);
  }
  for (int64_t i = 0; i < 3; ++i) {
    for (const int s :
         task.HeldOutBatch(TranslationTask::HeldOut::kByLanguages, i, kGroups, kSequences).sentences)
      ++by_language[task.sentence(s).language];
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), held_out);
  for (const auto& [language, count] : by_language)
    EXPECT_EQ(count, 3 * kGroups * kSequences / 6) << language;
}

TEST(TranslationTaskTest, LanguagesAreDrawnByTheirSentencesRaisedToTheTemperature) {
  for (const double temperature : {1.0, 5.0}) {
    TaskOptions options = SmallOptions();
    options.temperature = temperature;
    ASSERT_OK_AND_ASSIGN(const auto task, TranslationTask::Create(PermutedLanguages(2, 400, 1), options));
    const auto& languages = task.languages();
    const double a = std::pow(languages[0].training, 1 / temperature),
                 b = std::pow(languages[1].training, 1 / temperature);
    double first = 0, all = 0;
    for (int64_t step = 0; step < 200; ++step) {
      for (const int s : task.TrainingBatch(step, kGroups, kSequences).sentences) {
        first += task.sentence(s).language == 0;
        ++all;
      }
    }
    EXPECT_NEAR(first / all, a / (a + b), 0.02) << temperature;
  }
}

TEST(TranslationTaskTest, LongSentencesAndSmallLanguagesAreLeftOut) {
  Corpus corpus = PermutedLanguages(3, 100, 1);
  corpus.languages.push_back("tiny");
  corpus.sentences.push_back({3, "x", "y"});
  corpus.sentences.push_back({0, std::string(24, 'a'), "long source"});
  corpus.sentences.push_back({0, "long target", std::string(24, 'b')});
  ASSERT_OK_AND_ASSIGN(const auto task, TranslationTask::Create(corpus, SmallOptions()));
  for (const auto& language : task.languages()) EXPECT_NE(language.name, "tiny");
  EXPECT_THAT(task.LanguagesTsv(),
              HasSubstr(absl::StrCat("made_up_0\t", task.languages()[0].training, "\t")));
  EXPECT_THAT(task.Summary(), HasSubstr(absl::StrCat(task.languages().size(), " languages")));
  int64_t sentences = 0;
  for (const auto& language : task.languages()) sentences += language.training + language.held_out;
  EXPECT_LE(sentences, static_cast<int64_t>(corpus.sentences.size()) - 3);
}

TEST(TranslationTaskTest, LabelsOfSomeLanguagesLeaveTheRestOfTheBatch) {
  ASSERT_OK_AND_ASSIGN(const auto task,
                       TranslationTask::Create(PermutedLanguages(6, 300, 1), SmallOptions()));
  const TranslationBatch batch =
      task.HeldOutBatch(TranslationTask::HeldOut::kByLanguages, 0, kGroups, kSequences);
  const TranslationBatch some = WithLabelsOf(batch, task, 1, 2);
  EXPECT_EQ(some.source, batch.source);
  EXPECT_EQ(some.target, batch.target);
  for (size_t row = 0; row < batch.sentences.size(); ++row) {
    const int language = task.sentence(batch.sentences[row]).language;
    EXPECT_EQ(Row(some.labels, row, 24).empty(), language < 1 || language > 2);
  }
}

TEST(TranslationTaskTest, OptionsThatLeaveNothingAreRefused) {
  const Corpus corpus = PermutedLanguages(3, 100, 1);
  TaskOptions options = SmallOptions();
  options.min_sentences = 1000;
  EXPECT_THAT(TranslationTask::Create(corpus, options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1000 sentences")));
  options = SmallOptions();
  options.source_vocabulary = 5;
  EXPECT_THAT(TranslationTask::Create(corpus, options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no room")));
  options = SmallOptions();
  options.held_out = 1;
  EXPECT_THAT(TranslationTask::Create(corpus, options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("held out")));
}

}  // namespace
}  // namespace toroid
