#include "examples/decoding/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "examples/data/vocabulary.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

using Text = std::vector<absl::string_view>;  // Characters.

int64_t Distance(const Text& a, const Text& b) {
  // Edit distances from the first i characters of a to the first j of b, i row by row.
  std::vector<int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const int64_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j + 1] + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

int64_t EditDistance(absl::string_view a, absl::string_view b) {
  return Distance(Characters(a), Characters(b));
}

double NormalizedEditDistance(absl::string_view a, absl::string_view b) {
  const Text from = Characters(a), to = Characters(b);
  const size_t longer = std::max(from.size(), to.size());
  return longer == 0 ? 0 : static_cast<double>(Distance(from, to)) / static_cast<double>(longer);
}

const Sentence& NearestSentence(const TranslationTask& task, int language, absl::string_view source) {
  const Text characters = Characters(source);
  const Sentence* nearest = nullptr;
  int64_t least = 0;
  for (const int i : task.training_sentences(language)) {
    const Sentence& sentence = task.sentence(i);
    const int64_t distance = Distance(characters, Characters(sentence.source));
    if (nearest != nullptr && distance >= least) continue;
    nearest = &sentence;
    least = distance;
  }
  TOROID_CHECK(nearest != nullptr, "no sentences in language ", language);
  return *nearest;
}

}  // namespace toroid
