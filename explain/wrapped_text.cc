#include "explain/wrapped_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/terminal.h"

namespace toroid {

std::string WrappedText(absl::string_view text, int width) {
  std::string out, line;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (!line.empty() && TextWidth(line) + 1 + TextWidth(word) > width) {
      absl::StrAppend(&out, line, "\n");
      line.assign(1, ' ');
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  return absl::StrCat(out, line);
}

}  // namespace toroid
