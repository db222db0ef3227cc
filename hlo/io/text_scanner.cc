#include "hlo/io/text_scanner.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

bool StartsName(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }

// Length of the quoted string at the start of `text`, with its quotes; 0 if it does not end.
size_t StringLength(absl::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[0]) {
      return i + 1;
    }
  }
  return 0;
}

}  // namespace

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

size_t BalancedBlockLength(absl::string_view text) {
  if (text.empty() || text[0] != '{') return 0;
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const size_t length = StringLength(text.substr(i));
      if (length == 0) return 0;
      i += length - 1;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

void TextScanner::SkipSpace() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
      ++position_;
    } else if (c == '/' && text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '/' && text_.substr(position_, 2) == "/*") {
      const size_t end = text_.find("*/", position_ + 2);
      position_ = end == absl::string_view::npos ? text_.size() : end + 2;
    } else {
      return;
    }
  }
}

size_t TextScanner::Position() {
  SkipSpace();
  return position_;
}

absl::string_view TextScanner::Rest() { return text_.substr(Position()); }

bool TextScanner::AtEnd() { return Position() == text_.size(); }

char TextScanner::Peek() { return AtEnd() ? '\0' : text_[position_]; }

bool TextScanner::Consume(absl::string_view token) {
  if (text_.substr(Position(), token.size()) != token) return false;
  position_ += token.size();
  return true;
}

absl::Status TextScanner::Expect(absl::string_view token) {
  if (Consume(token)) return absl::OkStatus();
  return Error(absl::StrCat("expected '", token, "'"));
}

bool TextScanner::ConsumeAdjacent(absl::string_view token) {
  if (!absl::StartsWith(text_.substr(position_), token)) return false;
  position_ += token.size();
  return true;
}

absl::string_view TextScanner::PeekWord() {
  size_t end = Position();
  if (end < text_.size() && StartsName(text_[end])) {
    while (end < text_.size() && IsNameCharacter(text_[end])) ++end;
    // `->` after a word is a token of its own.
    if (end < text_.size() && text_[end] == '>' && text_[end - 1] == '-') --end;
  }
  return text_.substr(position_, end - position_);
}

bool TextScanner::ConsumeWord(absl::string_view word) {
  if (PeekWord() != word) return false;
  position_ += word.size();
  return true;
}

absl::StatusOr<absl::string_view> TextScanner::Word(absl::string_view what) {
  const absl::string_view word = PeekWord();
  if (word.empty()) return Error(absl::StrCat("expected ", what));
  position_ += word.size();
  return word;
}

absl::StatusOr<absl::string_view> TextScanner::Name(absl::string_view what) {
  Consume("%");
  if (Peek() != '"') return Word(what);
  const size_t end = text_.find_first_of("\"\\\n", position_ + 1);
  if (end == absl::string_view::npos || text_[end] != '"' || end == position_ + 1) {
    return Error("a name in quotes has characters and no backslash, and ends on its line");
  }
  const absl::string_view name = text_.substr(position_ + 1, end - position_ - 1);
  position_ = end + 1;
  return name;
}

absl::StatusOr<int64_t> TextScanner::Integer() {
  const size_t begin = Position();
  size_t end = begin;
  if (end < text_.size() && text_[end] == '-') ++end;
  while (end < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[end]))) ++end;
  int64_t value;
  if (!absl::SimpleAtoi(text_.substr(begin, end - begin), &value)) {
    return Error(end > begin + 1 ? "integer out of range" : "expected an integer");
  }
  position_ = end;
  return value;
}

absl::StatusOr<bool> TextScanner::Boolean() {
  if (ConsumeWord("true") || Consume("1")) return true;
  if (ConsumeWord("false") || Consume("0")) return false;
  return Error("expected true or false");
}

absl::StatusOr<double> TextScanner::Decimal() {
  SkipSpace();
  double value;
  const char* begin = text_.data() + position_;
  const absl::from_chars_result result = absl::from_chars(begin, text_.data() + text_.size(), value);
  if (result.ec == std::errc::invalid_argument) return Error("expected a number");
  position_ += result.ptr - begin;
  return value;
}

absl::StatusOr<std::string> TextScanner::String() {
  const char quote = Peek();
  if (quote != '"' && quote != '\'') return Error("expected a string in quotes");
  const size_t length = StringLength(text_.substr(position_));
  if (length == 0) return Error("the string does not end");
  std::string value, problem;
  if (!absl::CUnescape(text_.substr(position_ + 1, length - 2), &value, &problem)) {
    return Error(absl::StrCat("bad escape in the string: ", problem));
  }
  position_ += length;
  return value;
}

absl::StatusOr<absl::string_view> TextScanner::Block() {
  const absl::string_view rest = Rest();
  const size_t length = BalancedBlockLength(rest);
  if (length == 0) return Error("expected a block in balanced braces");
  position_ += length;
  return rest.substr(0, length);
}

absl::StatusOr<std::vector<int64_t>> TextScanner::IntegerList(absl::string_view open,
                                                              absl::string_view close) {
  std::vector<int64_t> values;
  RETURN_IF_ERROR(List(open, close, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t value, Integer());
    values.push_back(value);
    return absl::OkStatus();
  }));
  return values;
}

absl::Status TextScanner::SkipValue() {
  if (Peek() == '{') return Block().status();
  if (Peek() == '"' || Peek() == '\'') return String().status();
  Run([](char c) { return c != ',' && c != '}' && !absl::ascii_isspace(static_cast<unsigned char>(c)); });
  return absl::OkStatus();
}

absl::Status TextScanner::Error(absl::string_view what) { return ErrorAt(Position(), what); }

absl::Status TextScanner::ErrorAt(size_t position, absl::string_view what) const {
  const absl::string_view before = text_.substr(0, position);
  const int64_t line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') == absl::string_view::npos ? 0 : before.rfind('\n') + 1;
  std::string found;
  if (absl::StartsWith(what, "expected")) {
    absl::string_view rest = text_.substr(position);
    rest = rest.substr(0, std::min<size_t>(rest.find('\n'), 20));
    found = rest.empty() && position >= text_.size() ? ", found the end"
                                                     : absl::StrCat(", found '", absl::CEscape(rest), "'");
  }
  return absl::InvalidArgumentError(absl::StrCat(line, ":", position - line_start + 1, ": ", what, found));
}

std::string Quoted(absl::string_view text) { return absl::StrCat("\"", absl::CEscape(text), "\""); }

}  // namespace toroid
