// Names with wildcards.
#pragma once

#include "absl/strings/string_view.h"

namespace toroid {

// Whether a glob with * (any run) and ? (one character) matches the whole text.
bool GlobMatches(absl::string_view glob, absl::string_view text);

}  // namespace toroid
