// Characters as tokens.
//
//   0 padding, 1 begin, 2 end, 3 unknown, then `reserved` tokens of the caller's, then characters, the most frequent first.
#ifndef TOROID_EXAMPLES_DATA_VOCABULARY_H_
#define TOROID_EXAMPLES_DATA_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace toroid {

// The code points of UTF-8 text, each as its bytes. Bytes that are no UTF-8 belong to the character before them.
std::vector<absl::string_view> Characters(absl::string_view text);

class Vocabulary {
 public:
  static constexpr int32_t kPadding = 0, kBegin = 1, kEnd = 2, kUnknown = 3, kFirstReserved = 4;

  Vocabulary() = default;
  // Of the characters of `texts`, as many as leave at most `size` tokens; of equally frequent ones the first by bytes.
  Vocabulary(absl::Span<const absl::string_view> texts, int64_t size, int64_t reserved);

  // Tokens there are, at most the size asked for.
  int64_t size() const { return first_character_ + static_cast<int64_t>(characters_.size()); }
  std::vector<int32_t> Encode(absl::string_view text) const;
  // The characters of the tokens up to the first end; U+FFFD for unknown, nothing for other tokens that are no characters.
  std::string Decode(absl::Span<const int32_t> tokens) const;

 private:
  int64_t first_character_ = kFirstReserved;
  std::vector<std::string> characters_;
  absl::flat_hash_map<std::string, int32_t> tokens_;
};

}  // namespace toroid

#endif  // TOROID_EXAMPLES_DATA_VOCABULARY_H_
