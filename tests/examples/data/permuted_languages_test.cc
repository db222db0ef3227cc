#include "examples/data/permuted_languages.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(PermutedLanguagesTest, EveryLanguageReplacesLettersOneToOne) {
  const Corpus corpus = PermutedLanguages(5, 200, 3);
  ASSERT_EQ(corpus.languages.size(), 5);
  std::map<int, std::map<char, char>> letters;
  for (const Sentence& s : corpus.sentences) {
    ASSERT_EQ(s.source.size(), s.english.size());
    if (s.language % 2 == 1 || s.english.find(' ') != std::string::npos) continue;  // Written back to front.
    for (size_t i = 1; i < s.source.size(); ++i) {
      const auto it = letters[s.language].emplace(s.english[i], s.source[i]).first;
      EXPECT_EQ(it->second, s.source[i]);
    }
  }
  for (const auto& [language, map] : letters) {
    std::set<char> images;
    for (const auto& [from, to] : map) images.insert(to);
    EXPECT_EQ(images.size(), map.size());
  }
}

TEST(PermutedLanguagesTest, LanguagesHaveFewerAndFewerNames) {
  const Corpus corpus = PermutedLanguages(5, 400, 3);
  std::vector<int> counts(5);
  for (const Sentence& s : corpus.sentences) ++counts[s.language];
  EXPECT_EQ(counts.front(), 400);
  EXPECT_EQ(counts.back(), 10);
  for (int k = 1; k < 5; ++k) EXPECT_LT(counts[k], counts[k - 1]);
}

TEST(PermutedLanguagesTest, SeedDecidesEverything) {
  const auto texts = [](const Corpus& corpus) {
    std::vector<std::string> all;
    for (const Sentence& s : corpus.sentences) all.push_back(s.source + "=" + s.english);
    return all;
  };
  EXPECT_EQ(texts(PermutedLanguages(3, 50, 1)), texts(PermutedLanguages(3, 50, 1)));
  EXPECT_NE(texts(PermutedLanguages(3, 50, 1)), texts(PermutedLanguages(3, 50, 2)));
}

TEST(PermutedLanguagesTest, OneLanguageWithOneNameIsEnough) {
  EXPECT_EQ(PermutedLanguages(1, 1, 1).sentences.size(), 1);
}

}  // namespace
}  // namespace toroid
