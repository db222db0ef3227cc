// Two programs side by side as JSON: `hlo-diff A B --json=FILE`.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "explain/diff/program_diff.h"

namespace toroid {

// One line of JSON, whose keys are documented in docs/commands.md. `table`: the same as text, for people.
std::string DiffJson(const ProgramDiff& diff, absl::string_view table);

}  // namespace toroid
