// Keeps the first error of a parser of protobuf text.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/tokenizer.h"

namespace toroid {

// Text "LINE:COL: what", both from 1; "1:1: not in the text format" if the parser reported none.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& what) override {
    if (text_.empty()) text_ = absl::StrCat(line + 1, ":", column + 1, ": ", what);
  }
  std::string text() const { return text_.empty() ? "1:1: not in the text format" : text_; }

 private:
  std::string text_;
};

}  // namespace toroid
