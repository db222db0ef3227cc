// The output flag of commands.
#ifndef TOROID_HLO_IO_OUTPUT_NAME_H_
#define TOROID_HLO_IO_OUTPUT_NAME_H_

#include <string>

#include "absl/strings/string_view.h"

namespace toroid {

// Throws CLI::ValidationError, a usage error, if FormatOfName rejects the name; `advice` is appended to the
// message. Call it when the flags are parsed (CLI::App::callback), before any work.
void CheckOutputName(const std::string& path, absl::string_view advice);

}  // namespace toroid

#endif  // TOROID_HLO_IO_OUTPUT_NAME_H_
