// Characters as tokens.
//
// Tokens: 0 padding, 1 begin, 2 end, 3 unknown, then `reserved` tokens of the caller's, then characters, the
// most frequent first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace toroid {

// The code points of UTF-8 text, each as its bytes. A byte that is not valid UTF-8 is added to the character
// before it.
std::vector<absl::string_view> Characters(absl::string_view text);

class Vocabulary {
 public:
  static constexpr int32_t kPadding = 0, kBegin = 1, kEnd = 2, kUnknown = 3, kFirstReserved = 4;

  Vocabulary() = default;
  // A vocabulary of at most `size` tokens, with the most frequent characters of `texts`; equally frequent
  // ones are ordered by their bytes.
  Vocabulary(absl::Span<const absl::string_view> texts, int64_t size, int64_t reserved);

  // The number of tokens, at most the size asked for.
  int64_t size() const { return first_character_ + static_cast<int64_t>(characters_.size()); }
  std::vector<int32_t> Encode(absl::string_view text) const;
  // The characters of the tokens before the first `end`. `unknown` gives U+FFFD; other tokens that are no
  // characters give nothing.
  std::string Decode(absl::Span<const int32_t> tokens) const;

 private:
  int64_t first_character_ = kFirstReserved;
  std::vector<std::string> characters_;
  absl::flat_hash_map<std::string, int32_t> tokens_;
};

}  // namespace toroid
