// Checks the tokens of JSON before protobuf parses it, for limits that protobuf's parser lacks.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace toroid {

// Splits JSON into tokens without white space. Invalid JSON is split too.
//   {"a": [-0]}    {  "a"  :  [  -0  ]  }
class JsonTokens {
 public:
  explicit JsonTokens(absl::string_view text) : text_(text) {}

  // Moves to the next token; false at the end.
  bool Next();
  // A character of []{},: or a string with its quotes (" or '), or a longest run of other bytes: a number or
  // a word.
  absl::string_view token() const { return text_.substr(begin_, end_ - begin_); }
  size_t offset() const { return begin_; }

 private:
  const absl::string_view text_;
  size_t begin_ = 0, end_ = 0;
};

// Messages nest at most 100 deep, each in at most one object and one array.
inline constexpr int kMaxJsonDepth = 200;

// Errors: kInvalidArgument for brackets nested deeper than kMaxJsonDepth.
absl::Status CheckJsonNesting(absl::string_view text);

// The text with each number -0 spelled -0.0, since protobuf's parser reads -0 as the integer 0.
std::string WithSignedZeros(std::string text);

}  // namespace toroid
