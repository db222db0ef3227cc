// Suggestions for misspelled words.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace toroid {

// The candidate nearest to `word`. The distance counts letters inserted, dropped, changed, or swapped with
// their neighbor; it ignores case, and takes - and _ as equal. "" if more than a third of the letters differ.
std::string Nearest(absl::string_view word, const std::vector<std::string>& candidates);

// "; did you mean NAME?" for the nearest, or "".
std::string DidYouMean(absl::string_view word, const std::vector<std::string>& candidates);

}  // namespace toroid
