// BUILD: size = "small"
#include "examples/decoding/nearest_name.h"

#include <utility>

#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(NearestNameTest, EditDistanceCountsCharacters) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("sitting", "kitten"), 3);
  EXPECT_EQ(EditDistance("ab", "ba"), 2);
  EXPECT_EQ(EditDistance("Ísland", "Island"), 1);
  EXPECT_EQ(EditDistance("日本", "日"), 1);
}

TEST(NearestNameTest, NormalizedByTheLongerOne) {
  EXPECT_DOUBLE_EQ(NormalizedEditDistance("", ""), 0);
  EXPECT_DOUBLE_EQ(NormalizedEditDistance("abc", ""), 1);
  EXPECT_DOUBLE_EQ(NormalizedEditDistance("ab", "abcd"), 0.5);
  EXPECT_DOUBLE_EQ(NormalizedEditDistance("日本", "日"), 0.5);
  EXPECT_DOUBLE_EQ(NormalizedEditDistance("xyz", "abc"), 1);
}

// Two languages; the seed decides which English names are held out.
TEST(NearestNameTest, NearestIsOfTheSameLanguageAndTrainedOn) {
  Corpus corpus;
  corpus.origin = "here";
  corpus.languages = {"aa", "bb"};
  for (int i = 0; i < 40; ++i) {
    const std::string name(1 + i % 20, static_cast<char>('a' + i / 20));
    for (int language = 0; language < 2; ++language) {
      corpus.sentences.push_back({language, (language == 0 ? "-" : "+") + name, name});
    }
  }
  TaskOptions options;
  options.min_sentences = 1;
  options.held_out = 0.3;
  ASSERT_OK_AND_ASSIGN(const TranslationTask task, TranslationTask::Create(corpus, options));
  ASSERT_FALSE(task.held_out_sentences().empty());
  for (const int held_out : task.held_out_sentences()) {
    const Sentence& sentence = task.sentence(held_out);
    const Sentence& nearest = NearestSentence(task, sentence.language, sentence.source);
    EXPECT_EQ(nearest.language, sentence.language);
    EXPECT_NE(nearest.english, sentence.english);
    for (const int i : task.training_sentences(sentence.language)) {
      EXPECT_LE(EditDistance(nearest.source, sentence.source),
                EditDistance(task.sentence(i).source, sentence.source));
    }
  }
  const Sentence& trained = task.sentence(task.training_sentences(1)[3]);
  EXPECT_EQ(NearestSentence(task, 1, trained.source).english, trained.english);
}

}  // namespace
}  // namespace toroid
