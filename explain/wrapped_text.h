// Sentences that are longer than a line.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace toroid {

// `text` in lines of at most `width` columns, broken at blanks, those after the first indented by two; a longer word has a line
// of its own. No line's end behind the last one.
std::string WrappedText(absl::string_view text, int width);

}  // namespace toroid
