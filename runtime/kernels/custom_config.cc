#include "runtime/kernels/custom_config.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace toroid {
namespace {

std::optional<int64_t> Number(absl::string_view word) {
  word = absl::StripAsciiWhitespace(word);
  if (word == "true") return 1;
  if (word == "false") return 0;
  int64_t number;
  if (!absl::SimpleAtoi(word, &number)) return std::nullopt;
  return number;
}

bool IsWord(char c) { return absl::ascii_isalnum(c) || c == '_'; }

}  // namespace

std::optional<std::vector<int64_t>> FindOption(absl::string_view config, absl::string_view key) {
  for (size_t at = config.find(key); at != absl::string_view::npos; at = config.find(key, at + 1)) {
    if (at > 0 && IsWord(config[at - 1])) continue;
    absl::string_view rest = config.substr(at + key.size());
    if (!rest.empty() && IsWord(rest[0])) continue;
    absl::ConsumePrefix(&rest, "\"");
    rest = absl::StripLeadingAsciiWhitespace(rest);
    if (!absl::ConsumePrefix(&rest, "=") && !absl::ConsumePrefix(&rest, ":")) continue;
    rest = absl::StripLeadingAsciiWhitespace(rest);
    std::vector<int64_t> values;
    if (absl::ConsumePrefix(&rest, "[")) {
      for (const absl::string_view word :
           absl::StrSplit(rest.substr(0, rest.find(']')), ',', absl::SkipWhitespace())) {
        const std::optional<int64_t> value = Number(word);
        if (!value) return std::nullopt;
        values.push_back(*value);
      }
      return values;
    }
    const std::optional<int64_t> value = Number(rest.substr(0, rest.find_first_of(",}: ")));
    if (!value) return std::nullopt;
    values.push_back(*value);
    return values;
  }
  return std::nullopt;
}

absl::StatusOr<int64_t> IntOption(absl::string_view config, absl::string_view key) {
  const std::optional<std::vector<int64_t>> values = FindOption(config, key);
  if (values && values->size() == 1) return (*values)[0];
  return absl::InvalidArgumentError(
      absl::StrCat("backend_config \"", config, "\" has no number ", key, "; give ", key, "=N"));
}

}  // namespace toroid
