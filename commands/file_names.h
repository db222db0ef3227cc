// Names of files on the command line.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace toroid {

// "standard input" for "-", other names as they are.
std::string NameOfInput(const std::string& path);

// Throws CLI::ValidationError, a usage error, if FormatOfName rejects the name after -o; `advice` is appended to the
// message. Call it when the flags are parsed (CLI::App::callback), before any work.
void CheckOutputName(const std::string& path, absl::string_view advice);

}  // namespace toroid
