#include "examples/data/permuted_languages.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "examples/data/counter_random.h"

namespace toroid {
namespace {

constexpr int kLetters = 26;
constexpr double kSmallest = 1.0 / 40;

// Purposes of random draws, used as counters.
enum : uint64_t { kWord, kName, kPermutation };

std::string Word(CounterRandom& random) {
  constexpr absl::string_view kConsonants = "bcdfghjklmnprstvwz", kVowels = "aeiouy";
  std::string word;
  for (int64_t syllables = 2 + random.Below(3); syllables > 0; --syllables) {
    word += kConsonants[random.Below(kConsonants.size())];
    word += kVowels[random.Below(kVowels.size())];
    if (random.Below(3) == 0) word += kConsonants[random.Below(kConsonants.size())];
  }
  return word;
}

// Distinct names made of a stock of words.
std::vector<std::string> Names(int count, uint64_t seed) {
  std::vector<std::string> words;
  for (int i = 0; i < count / 2 + 2; ++i) {
    CounterRandom random(seed, {kWord, static_cast<uint64_t>(i)});
    words.push_back(Word(random));
  }
  std::set<std::string> seen;
  std::vector<std::string> names;
  for (uint64_t i = 0; names.size() < static_cast<size_t>(count); ++i) {
    CounterRandom random(seed, {kName, i});
    std::string name = words[random.Below(words.size())];
    if (random.Below(2) == 0) absl::StrAppend(&name, " ", words[random.Below(words.size())]);
    name[0] = absl::ascii_toupper(name[0]);
    if (seen.insert(name).second) names.push_back(std::move(name));
  }
  return names;
}

std::string Permuted(const std::string& name, const std::vector<int>& permutation, bool backwards) {
  std::vector<std::string> words = absl::StrSplit(name, ' ');
  for (std::string& word : words) {
    for (char& c : word) {
      const char first = absl::ascii_isupper(c) ? 'A' : 'a';
      c = static_cast<char>(first + permutation[c - first]);
    }
    if (backwards) std::reverse(word.begin(), word.end());
  }
  return absl::StrJoin(words, " ");
}

}  // namespace

Corpus PermutedLanguages(int languages, int names, uint64_t seed) {
  Corpus corpus;
  corpus.origin = "languages made up by permuting letters";
  const std::vector<std::string> english = Names(names, seed);
  for (int k = 0; k < languages; ++k) {
    CounterRandom random(seed, {kPermutation, static_cast<uint64_t>(k)});
    std::vector<int> permutation(kLetters);
    for (int i = 0; i < kLetters; ++i) {
      const int64_t j = random.Below(i + 1);
      permutation[i] = permutation[j];
      permutation[j] = i;
    }
    const double share = languages == 1 ? 1 : std::pow(kSmallest, static_cast<double>(k) / (languages - 1));
    const int count = std::max(1, static_cast<int>(std::lround(names * share)));
    // The names that the language has: the first ones in its own order.
    std::vector<std::pair<uint64_t, int>> order;
    for (int i = 0; i < names; ++i) order.emplace_back(random.Next(), i);
    std::sort(order.begin(), order.end());
    for (int i = 0; i < count; ++i) {
      const std::string& name = english[order[i].second];
      corpus.sentences.push_back({k, Permuted(name, permutation, k % 2 == 1), name});
    }
    corpus.languages.push_back(absl::StrFormat("made_up_%d", k));
  }
  return corpus;
}

}  // namespace toroid
