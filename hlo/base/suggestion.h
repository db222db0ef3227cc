// What a user may have meant.
#ifndef TOROID_HLO_BASE_SUGGESTION_H_
#define TOROID_HLO_BASE_SUGGESTION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace toroid {

// The candidate nearest to `word` by letters inserted, dropped, changed or swapped with their neighbor, where
// that are at most a third of its letters; case, and - for _, count nothing. "" if there is none.
std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates);

// "; did you mean NAME?" for the nearest, or "".
std::string DidYouMean(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace toroid

#endif  // TOROID_HLO_BASE_SUGGESTION_H_
