// Mutations of text that is made of words, numbers, strings and punctuation: HLO text, JSON, protobuf text.
#ifndef TOROID_TESTS_FUZZ_MUTATE_TEXT_H_
#define TOROID_TESTS_FUZZ_MUTATE_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/fuzz/random_source.h"

namespace toroid {

// Applies one to a few changes: a number, word or line replaced, removed, repeated, moved or taken from
// `other`, a word of `dictionary` put in, a bracket run, a cut, a changed byte.
void MutateText(absl::string_view other, absl::Span<const std::string> dictionary, RandomSource* random,
                std::string* text);

// Changes bytes without regard to what they mean.
void MutateBytes(absl::string_view other, RandomSource* random, std::string* bytes);

// Words of HLO text: opcodes, types, attribute keys, values.
const std::vector<std::string>& HloTextWords();

}  // namespace toroid

#endif  // TOROID_TESTS_FUZZ_MUTATE_TEXT_H_
