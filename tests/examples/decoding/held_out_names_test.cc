// BUILD: size = "medium"
#include "examples/decoding/held_out_names.h"

#include <string>
#include <vector>

#include "examples/data/permuted_languages.h"
#include "tests/examples/decoding/plain_beam_search.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

TranslationTask SmallTask() {
  TaskOptions options;
  options.length = 12;
  options.min_sentences = 5;
  options.held_out = 0.2;
  auto task = TranslationTask::Create(PermutedLanguages(4, 200, 1), options);
  EXPECT_OK(task);
  return *std::move(task);
}

MoeTransformerConfig ModelOf(const TranslationTask& task, int64_t devices) {
  MoeTransformerConfig config = TinyConfig();
  config.devices = devices;
  config.padding = true;
  config.source_vocabulary = task.source_vocabulary().size();
  config.target_vocabulary = task.target_vocabulary().size();
  config.sequence_length = task.length();
  return config;
}

// The result of Translate on `devices` devices, `sentences` sentences at a time.
std::vector<std::string> TranslateSome(const TranslationTask& task, int64_t devices, int64_t at_a_time) {
  const NamedWeights weights = RandomWeights(ModelOf(task, 1), 3);
  auto decoder = MakeTaskDecoder(task, ModelOf(task, devices), {.beam = 2}, at_a_time);
  EXPECT_OK(decoder);
  EXPECT_OK((*decoder)->SetWeights(weights.names, weights.arrays));
  std::vector<SourceSentence> sources;
  for (const int i : {0, 3, 7, 11, 12})
    sources.push_back({task.sentence(i).language, task.sentence(i).source});
  auto texts = Translate(task, sources, **decoder);
  EXPECT_OK(texts);
  return *std::move(texts);
}

TEST(HeldOutNamesTest, TranslationsDoNotDependOnBatchesOrDevices) {
  const TranslationTask task = SmallTask();
  const std::vector<std::string> alone = TranslateSome(task, 1, 1);
  ASSERT_EQ(alone.size(), 5);
  EXPECT_EQ(TranslateSome(task, 1, 4), alone);
  EXPECT_EQ(TranslateSome(task, 4, 3), alone);
}

TEST(HeldOutNamesTest, LongSentenceIsRefused) {
  const TranslationTask task = SmallTask();
  ASSERT_OK_AND_ASSIGN(const auto decoder, MakeTaskDecoder(task, ModelOf(task, 1), {.beam = 1}, 1));
  const NamedWeights weights = RandomWeights(ModelOf(task, 1), 3);
  ASSERT_OK(decoder->SetWeights(weights.names, weights.arrays));
  EXPECT_THAT(
      Translate(task, {{0, "abcdefghijkl"}}, *decoder),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("12 characters, the model takes at most 11")));
}

TEST(HeldOutNamesTest, QualityIsOfReferencesAlone) {
  const TranslationTask task = SmallTask();
  const int first = task.held_out_sentences()[0];
  const std::string& english = task.sentence(first).english;
  // Right and wrong; copied always one letter too long.
  const std::vector<TranslatedName> names = {{first, english, english + "x"}, {first, "", english + "x"}};
  const QualityBeside quality = Judge(task, names);
  EXPECT_DOUBLE_EQ(quality.decoded.exact, 0.5);
  EXPECT_DOUBLE_EQ(quality.decoded.distance, 0.5);
  EXPECT_DOUBLE_EQ(quality.copied.exact, 0);
  EXPECT_DOUBLE_EQ(quality.copied.distance, 1.0 / static_cast<double>(english.size() + 1));
  const std::string table = QualityTable(2, quality);
  EXPECT_THAT(table, HasSubstr("2 held-out names"));
  EXPECT_THAT(table, HasSubstr("50.0 %"));
  EXPECT_THAT(NamesTable(task, names, 10), HasSubstr(english));
  EXPECT_EQ(Judge(task, {}).decoded.exact, 0);
}

TEST(HeldOutNamesTest, HeldOutNamesComeInTheTasksOrderWithACopyBeside) {
  const TranslationTask task = SmallTask();
  ASSERT_OK_AND_ASSIGN(const auto decoder, MakeTaskDecoder(task, ModelOf(task, 2), {.beam = 1}, 4));
  const NamedWeights weights = RandomWeights(ModelOf(task, 1), 3);
  ASSERT_OK(decoder->SetWeights(weights.names, weights.arrays));
  ASSERT_OK_AND_ASSIGN(const auto names, TranslateHeldOut(task, 1000, *decoder));
  ASSERT_EQ(names.size(), task.held_out_sentences().size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(names[i].sentence, task.held_out_sentences()[i]);
    EXPECT_FALSE(names[i].copied.empty());
  }
}

}  // namespace
}  // namespace toroid
