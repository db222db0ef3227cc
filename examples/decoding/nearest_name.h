// Translating a name by copying: what a model must do better than.
//
//   edit distance of a and b: the fewest insertions, deletions and replacements of characters (code points) that make b of a
//   normalized: divided by the characters of the longer one; 0 if both are empty, at most 1
// Source: Levenshtein, Soviet Physics Doklady 10(8), 1966.
#ifndef TOROID_EXAMPLES_DECODING_NEAREST_NAME_H_
#define TOROID_EXAMPLES_DECODING_NEAREST_NAME_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "examples/data/translation_task.h"

namespace toroid {

// Time and memory: the product and the sum of the numbers of characters.
int64_t EditDistance(absl::string_view a, absl::string_view b);
double NormalizedEditDistance(absl::string_view a, absl::string_view b);

// Of the sentences to train on in this language, the one whose source is nearest by edit distance; of equally near ones the
// first. Requires: the language has one.
const Sentence& NearestSentence(const TranslationTask& task, int language, absl::string_view source);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_DECODING_NEAREST_NAME_H_
