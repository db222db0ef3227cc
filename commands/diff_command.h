// The command hlo-diff, as one library call.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace toroid {

struct DiffCommand {
  std::string a, b;                 // Files; at most one of them is "-".
  std::string machine;              // A slice whose predicted times are compared, too; empty: none.
  bool full = false;                // All rows.
  std::vector<std::string> labels;  // What to call the modules; empty: as their files.
  std::string html;                 // File of a page; "-" standard output; empty: none.
  std::string json;                 // File; "-" standard output; empty: none.
};

// Reads two partitioned modules, prints how they differ and writes what was asked for. True if they are the same program.
// Errors: what reading or comparing says, behind the input's name.
absl::StatusOr<bool> RunDiffCommand(const DiffCommand& command);

}  // namespace toroid
