// Files that the build puts into a source, and pages made of them.
// BUILD: exports "base.css", "text.js", "theme.js"
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/base/status.h"

namespace toroid {

struct EmbeddedFile {
  absl::string_view name;
  absl::string_view text;
};

// A file that must be there.
inline absl::string_view TextOf(absl::Span<const EmbeddedFile> files, absl::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.text;
  }
  TOROID_CHECK(false, name);
  return "";
}

// The page with each placeholder replaced; what is put in is not searched again.
inline std::string FillTemplate(absl::string_view page,
                                const std::vector<std::pair<std::string, std::string>>& replacements) {
  return absl::StrReplaceAll(page, replacements);
}

// JSON for a script element: nothing in it may end the element, or a line.
inline std::string ScriptSafe(const std::string& json) {
  return absl::StrReplaceAll(json,
                             {{"<", "\\u003c"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}});
}

}  // namespace toroid
