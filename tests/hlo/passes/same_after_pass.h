// Shared by tests of passes over the program of several devices: checks that a pass keeps the results.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "hlo/passes/pass.h"

namespace toroid {

// Runs the program (its entry's body, and computations before it) on n devices, each with its own integers,
// before and after the pass. Expects equal results on every device, a valid module, and that the pass reports
// a change if `changes`. Returns the program after the pass and dead code elimination.
std::string SameAfterPass(Pass* pass, absl::string_view body, absl::string_view computations, int64_t n,
                          bool changes = true);

// How often `part` occurs in `text`.
int CountOf(absl::string_view text, absl::string_view part);

}  // namespace toroid
