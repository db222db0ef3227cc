// Mutations of text that is made of words, numbers, strings and punctuation: HLO text, JSON, protobuf text.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/fuzz/random_source.h"

namespace toroid {

// Applies one to a few changes: replaces, removes, repeats or moves a number, word or line, or takes one from
// `other`; inserts a word of `dictionary` or a run of brackets; truncates; changes a byte.
void MutateText(absl::string_view other, absl::Span<const std::string> dictionary, RandomSource* random,
                std::string* text);

// Changes bytes regardless of their meaning.
void MutateBytes(absl::string_view other, RandomSource* random, std::string* bytes);

// Words of HLO text: opcodes, types, attribute keys, values.
const std::vector<std::string>& HloTextWords();

}  // namespace toroid
