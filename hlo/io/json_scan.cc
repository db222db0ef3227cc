#include "hlo/io/json_scan.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

constexpr absl::string_view kSpace = " \t\r\n";
constexpr absl::string_view kPunctuation = "[]{},:";
constexpr absl::string_view kEndsWord = " \t\r\n[]{},:\"'";

}  // namespace

bool JsonTokens::Next() {
  begin_ = std::min(text_.find_first_not_of(kSpace, end_), text_.size());
  end_ = begin_;
  if (begin_ == text_.size()) return false;
  const char first = text_[end_++];
  if (first == '"' || first == '\'') {
    while (end_ < text_.size() && text_[end_] != first) end_ += text_[end_] == '\\' ? 2 : 1;
    end_ = std::min(end_ + 1, text_.size());
  } else if (kPunctuation.find(first) == absl::string_view::npos) {
    end_ = std::min(text_.find_first_of(kEndsWord, end_), text_.size());
  }
  return true;
}

absl::Status CheckJsonNesting(absl::string_view text) {
  int64_t depth = 0;
  JsonTokens tokens(text);
  while (tokens.Next()) {
    const char first = tokens.token()[0];
    depth += first == '[' || first == '{' ? 1 : first == ']' || first == '}' ? -1 : 0;
    if (depth > kMaxJsonDepth) {
      return absl::InvalidArgumentError(absl::StrCat("JSON: brackets nest more than ", kMaxJsonDepth,
                                                     " deep at byte ", tokens.offset(),
                                                     "; a module needs no more"));
    }
  }
  return absl::OkStatus();
}

std::string WithSignedZeros(std::string text) {
  if (!absl::StrContains(text, "-0")) return text;
  std::string out;
  size_t copied = 0;
  JsonTokens tokens(text);
  while (tokens.Next()) {
    if (tokens.token() != "-0") continue;
    const size_t end = tokens.offset() + tokens.token().size();
    out.append(text, copied, end - copied);
    out += ".0";
    copied = end;
  }
  if (copied == 0) return text;
  out.append(text, copied, std::string::npos);
  return out;
}

}  // namespace toroid
