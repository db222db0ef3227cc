#include "partitioner/prepare/shown_name.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "hlo/base/glob.h"

namespace toroid {
namespace {

// Numbers of a range between wildcards.
constexpr int64_t kMostTried = 4096;

// In the place of what was cut (CutMiddle, CutFront of hlo/base/terminal.h).
constexpr absl::string_view kCut = "…";

// What the op is needed for, or whose value it is, follows the op's own name.
absl::string_view OwnName(absl::string_view name) {
  for (const absl::string_view word : {" of ", " for "}) {
    const size_t at = name.find(word);
    if (at != absl::string_view::npos) name = name.substr(0, at);
  }
  return name;
}

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

}  // namespace

ShownName::ShownName(absl::string_view shown) {
  // A name that was cut begins anywhere: what it is needed for can be cut, too.
  const std::string text = absl::StrReplaceAll(OwnName(shown), {{kCut, "*"}});
  const absl::string_view name = text;
  glob_ = text;
  has_wildcard_ = name.find_first_of("*?") != absl::string_view::npos;
  const size_t dots = name.find("..");
  if (dots == absl::string_view::npos) return;
  size_t begin = dots, end = dots + 2;
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  while (end < name.size() && IsDigit(name[end])) ++end;
  int64_t first, last;
  if (!absl::SimpleAtoi(name.substr(begin, dots - begin), &first) ||
      !absl::SimpleAtoi(name.substr(dots + 2, end - dots - 2), &last)) {
    return;
  }
  range_ = {first, last};
  before_ = std::string(name.substr(0, begin));
  after_ = std::string(name.substr(end));
}

bool ShownName::IsPlain() const { return !has_wildcard_ && !range_.has_value(); }

bool ShownName::Means(absl::string_view name) const {
  name = OwnName(name);
  if (name == glob_ || (has_wildcard_ && GlobMatches(glob_, name))) return true;
  if (!range_.has_value()) return false;
  if (has_wildcard_) {
    for (int64_t k = range_->first; k <= range_->second && k - range_->first < kMostTried; ++k) {
      if (GlobMatches(absl::StrCat(before_, k, after_), name)) return true;
    }
    return false;
  }
  int64_t number;
  return name.size() > before_.size() + after_.size() && absl::StartsWith(name, before_) &&
         absl::EndsWith(name, after_) &&
         absl::SimpleAtoi(name.substr(before_.size(), name.size() - before_.size() - after_.size()),
                          &number) &&
         number >= range_->first && number <= range_->second;
}

bool ShownName::MeansLine(absl::string_view source) const {
  const size_t colon = glob_.rfind(':');
  if (colon == std::string::npos || colon + 1 == glob_.size() || !IsDigit(glob_[colon + 1])) return false;
  return source == glob_ || (has_wildcard_ && GlobMatches(glob_, source)) ||
         (absl::EndsWith(source, glob_) && source[source.size() - glob_.size() - 1] == '/');
}

}  // namespace toroid
