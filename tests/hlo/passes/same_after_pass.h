// A pass over the program of several devices must leave what it computes: the check that tests of such passes
// share.
#ifndef TOROID_TESTS_HLO_PASSES_SAME_AFTER_PASS_H_
#define TOROID_TESTS_HLO_PASSES_SAME_AFTER_PASS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "hlo/passes/pass.h"

namespace toroid {

// Runs the program (its entry's body, and computations before it) on n devices, each with integers of its
// own, before and after the pass; expects equal results on every device, a valid module, and that the pass
// changed something, or did not. Returns the program after the pass and after dead code was dropped.
std::string SameAfterPass(Pass* pass, absl::string_view body, absl::string_view computations, int64_t n,
                          bool changes = true);

// Times that `part` occurs in `text`.
int CountOf(absl::string_view text, absl::string_view part);

}  // namespace toroid

#endif  // TOROID_TESTS_HLO_PASSES_SAME_AFTER_PASS_H_
