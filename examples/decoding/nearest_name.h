// Translates a name by copying that of the nearest training name: the baseline that a model must beat.
//
//   edit distance of a and b: the fewest insertions, deletions and replacements of characters (code points)
//                             that turn a into b
//   normalized: divided by the number of characters of the longer one, so at most 1; 0 if both are empty
// Source: Levenshtein, Soviet Physics Doklady 10(8), 1966.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "examples/data/translation_task.h"

namespace toroid {

// Time and memory: proportional to the product and to the sum of the numbers of characters.
int64_t EditDistance(absl::string_view a, absl::string_view b);
double NormalizedEditDistance(absl::string_view a, absl::string_view b);

// The training sentence in this language whose source has the least edit distance; the first of equally near
// ones. Requires: the language has a training sentence.
const Sentence& NearestSentence(const TranslationTask& task, int language, absl::string_view source);

}  // namespace toroid
