#include "examples/data/vocabulary.h"

#include <string>
#include <vector>

#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(VocabularyTest, CharactersAreCodePoints) {
  EXPECT_THAT(Characters("aé日😀"), ElementsAre("a", "é", "日", "😀"));
  EXPECT_THAT(Characters(""), IsEmpty());
}

TEST(VocabularyTest, BytesThatAreNoUtf8AreKept) {
  EXPECT_THAT(Characters("\x80\x80x\xff"), ElementsAre("\x80\x80", "x", "\xff"));
}

TEST(VocabularyTest, TokensFollowTheReservedOnesByFrequency) {
  const std::vector<absl::string_view> texts = {"baccc", "db"};
  const Vocabulary vocabulary(texts, /*size=*/100, /*reserved=*/10);
  EXPECT_EQ(vocabulary.size(), 18);
  EXPECT_THAT(vocabulary.Encode("cbadx"), ElementsAre(14, 15, 16, 17, Vocabulary::kUnknown));
}

TEST(VocabularyTest, RareCharactersAreUnknown) {
  const std::vector<absl::string_view> texts = {"aab"};
  const Vocabulary vocabulary(texts, /*size=*/5, /*reserved=*/0);
  EXPECT_EQ(vocabulary.size(), 5);
  EXPECT_THAT(vocabulary.Encode("ab"), ElementsAre(4, Vocabulary::kUnknown));
  EXPECT_EQ(vocabulary.Decode({4, Vocabulary::kUnknown}), "a\uFFFD");
}

TEST(VocabularyTest, DecodingUndoesEncodingUpToTheEnd) {
  const std::vector<absl::string_view> texts = {"Curaçao"};
  const Vocabulary vocabulary(texts, 100, 3);
  std::vector<int32_t> tokens = vocabulary.Encode("Curaçao");
  tokens.insert(tokens.begin(), {Vocabulary::kBegin, 5, -1, 1 << 30});
  tokens.insert(tokens.end(), {Vocabulary::kEnd, tokens.back()});
  EXPECT_EQ(vocabulary.Decode(tokens), "Curaçao");
}

}  // namespace
}  // namespace toroid
