#include "examples/data/vocabulary.h"

#include <algorithm>
#include <utility>

namespace toroid {

std::vector<absl::string_view> Characters(absl::string_view text) {
  const auto continues = [&](size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
  std::vector<absl::string_view> characters;
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    end = begin + 1;
    while (end < text.size() && continues(end)) ++end;
    characters.push_back(text.substr(begin, end - begin));
  }
  return characters;
}

Vocabulary::Vocabulary(absl::Span<const absl::string_view> texts, int64_t size, int64_t reserved)
    : first_character_(kFirstReserved + reserved) {
  absl::flat_hash_map<absl::string_view, int64_t> counts;
  for (const absl::string_view text : texts) {
    for (const absl::string_view character : Characters(text)) ++counts[character];
  }
  std::vector<std::pair<int64_t, absl::string_view>> order;  // Most frequent first.
  for (const auto& [character, count] : counts) order.emplace_back(-count, character);
  std::sort(order.begin(), order.end());
  order.resize(std::min<size_t>(order.size(), std::max<int64_t>(0, size - first_character_)));
  for (const auto& [count, character] : order) {
    tokens_.emplace(character, static_cast<int32_t>(first_character_ + characters_.size()));
    characters_.emplace_back(character);
  }
}

std::vector<int32_t> Vocabulary::Encode(absl::string_view text) const {
  std::vector<int32_t> tokens;
  for (const absl::string_view character : Characters(text)) {
    const auto it = tokens_.find(character);
    tokens.push_back(it == tokens_.end() ? kUnknown : it->second);
  }
  return tokens;
}

std::string Vocabulary::Decode(absl::Span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t token : tokens) {
    if (token == kEnd) break;
    if (token == kUnknown) text += "\uFFFD";
    const int64_t character = token - first_character_;
    if (character >= 0 && character < static_cast<int64_t>(characters_.size()))
      text += characters_[character];
  }
  return text;
}

}  // namespace toroid
