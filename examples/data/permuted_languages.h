// Languages made up from a seed, for machines without the package iso-codes.
//
// English words have two to four syllables; a name has one or two words. Language k replaces letters by a
// permutation of its own, and every second language also reverses each word. Later languages have fewer
// names: language k of n has about names * (smallest / names)^(k / (n - 1)), where `smallest` is a fortieth
// of `names`.
#pragma once

#include <cstdint>

#include "examples/data/corpus.h"

namespace toroid {

// Requires: `languages` and `names` are at least 1.
Corpus PermutedLanguages(int languages, int names, uint64_t seed);

}  // namespace toroid
