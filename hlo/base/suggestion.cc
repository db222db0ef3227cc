#include "hlo/base/suggestion.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

constexpr size_t kLongest = 200;             // Letters of a word; longer words are not compared.
constexpr size_t kMostCandidates = 1 << 16;  // Only the first ones are compared.

std::string Folded(absl::string_view word) {
  std::string out(word);
  for (char& c : out) c = c == '-' ? '_' : absl::ascii_tolower(static_cast<unsigned char>(c));
  return out;
}

// Optimal string alignment distance, `limit` + 1 for anything beyond the limit.
size_t EditDistance(absl::string_view a, absl::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    size_t least = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit + 1;
    before = above;
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongest) return "";
  const std::string folded = Folded(word);
  size_t limit = std::max<size_t>(1, word.size() / 3);
  std::string best;
  for (size_t i = 0; i < std::min(candidates.size(), kMostCandidates); ++i) {
    if (candidates[i].empty()) continue;
    const size_t distance = EditDistance(folded, Folded(candidates[i]), limit);
    if (distance > limit || (!best.empty() && distance == limit)) continue;
    best = candidates[i];
    limit = distance;
    if (distance == 0) break;
  }
  return best;
}

std::string DidYouMean(absl::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(word, candidates);
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

}  // namespace toroid
