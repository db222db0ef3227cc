// Reads HLO text from left to right, character by character: white space and comments, words, numbers,
// strings, balanced blocks. There is no separate list of tokens, since the meaning of a token depends on the
// construct around it (`1_2x0_0` is a padding after `padding=`).
//
// Errors of every method: kInvalidArgument "LINE:COL: what is wrong".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/base/status.h"

namespace toroid {

// Characters of a name after its first.
bool IsNameCharacter(char c);

// Length of the balanced `{...}` block at the start of `text`, in which quoted strings are taken as a whole;
// 0 if there is none.
size_t BalancedBlockLength(absl::string_view text);

class TextScanner {
 public:
  // Deepest nesting of constructs (tuples, bodies written in place, nested instructions).
  static constexpr int kMaxNesting = 100;

  explicit TextScanner(absl::string_view text) : text_(text) {}

  // Position of the next character that is neither white space nor comment.
  size_t Position();
  void Reset(size_t position) { position_ = position; }
  // The text from Position() on.
  absl::string_view Rest();

  bool AtEnd();
  // The next character after white space and comments; '\0' at the end.
  char Peek();
  // Steps over `token` if it comes next.
  bool Consume(absl::string_view token);
  absl::Status Expect(absl::string_view token);
  // Consume, but without skipping white space first: takes the x of 1_1x0_2, not a name x behind 1_1.
  bool ConsumeAdjacent(absl::string_view token);

  // The next word `[A-Za-z_][A-Za-z0-9_.-]*`, without stepping over it; "" if none comes next.
  absl::string_view PeekWord();
  // Steps over `word` if exactly this word comes next.
  bool ConsumeWord(absl::string_view word);
  // Steps over any word; `what` names what was expected.
  absl::StatusOr<absl::string_view> Word(absl::string_view what);
  // A word, or any text in quotes, with an optional % in front, which is not part of the name.
  absl::StatusOr<absl::string_view> Name(absl::string_view what);
  // Longest run of characters that satisfy `predicate`, possibly none.
  template <typename Predicate>
  absl::string_view Run(const Predicate& predicate) {
    SkipSpace();
    const size_t begin = position_;
    while (position_ < text_.size() && predicate(text_[position_])) ++position_;
    return text_.substr(begin, position_ - begin);
  }

  absl::StatusOr<int64_t> Integer();
  absl::StatusOr<bool> Boolean();  // true, false, 0 or 1.
  absl::StatusOr<double> Decimal();
  // "..." or '...', escapes resolved.
  absl::StatusOr<std::string> String();
  // A balanced `{...}` block, verbatim.
  absl::StatusOr<absl::string_view> Block();
  // Integers between the two tokens, separated by commas: {1,2}.
  absl::StatusOr<std::vector<int64_t>> IntegerList(absl::string_view open = "{",
                                                   absl::string_view close = "}");
  // Calls parse() for each of the comma-separated items between the two tokens.
  template <typename Parse>
  absl::Status List(absl::string_view open, absl::string_view close, const Parse& parse) {
    RETURN_IF_ERROR(Expect(open));
    if (Consume(close)) return absl::OkStatus();
    do {
      RETURN_IF_ERROR(parse());
    } while (Consume(","));
    return Expect(close);
  }
  // Steps over the value of an ignored attribute: a string, a block, or any text up to a comma or blank.
  absl::Status SkipValue();

  // An error at Position(), or at the given one.
  absl::Status Error(absl::string_view what);
  absl::Status ErrorAt(size_t position, absl::string_view what) const;

 private:
  friend class Nesting;
  void SkipSpace();

  absl::string_view text_;
  size_t position_ = 0;
  int depth_ = 0;
};

// Counts one level of nesting during its lifetime; status() is an error if there are too many levels.
class Nesting {
 public:
  explicit Nesting(TextScanner* scanner) : scanner_(scanner) { ++scanner_->depth_; }
  ~Nesting() { --scanner_->depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  absl::Status status() const {
    if (scanner_->depth_ <= TextScanner::kMaxNesting) return absl::OkStatus();
    return scanner_->Error("nested too deeply");
  }

 private:
  TextScanner* scanner_;
};

// Parses all of `text` with parse(&scanner), which returns a StatusOr; a remainder is an error.
template <typename Parse>
auto ParseWhole(absl::string_view text, const Parse& parse)
    -> decltype(parse(static_cast<TextScanner*>(nullptr))) {
  TextScanner scanner(text);
  auto result = parse(&scanner);
  if (result.ok() && !scanner.AtEnd()) return scanner.Error("expected nothing more");
  return result;
}

// `text` in double quotes, escaped so that TextScanner::String gives it back.
std::string Quoted(absl::string_view text);

}  // namespace toroid
