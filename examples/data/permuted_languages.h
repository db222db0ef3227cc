// Languages made up from a seed, for machines without real ones.
//
// English is words of two to four syllables, one or two to a name. Language k writes each letter as another one, by a
// permutation of its own, and every second language also writes names back to front, word by word. Languages have fewer
// and fewer names: language k of n has about names * (smallest / names)^(k / (n - 1)), the smallest a fortieth.
#ifndef TOROID_EXAMPLES_DATA_PERMUTED_LANGUAGES_H_
#define TOROID_EXAMPLES_DATA_PERMUTED_LANGUAGES_H_

#include <cstdint>

#include "examples/data/corpus.h"

namespace toroid {

// Requires: languages and names at least 1.
Corpus PermutedLanguages(int languages, int names, uint64_t seed);

}  // namespace toroid

#endif  // TOROID_EXAMPLES_DATA_PERMUTED_LANGUAGES_H_
