// Problems and answers in the format of the contest on intra-operator parallelism (ASPLOS and EuroSys 2025), which XLA's
// automatic sharding also writes and reads:
//
//   {"problem": {"name": "A", "nodes": {"intervals": [[0, 5], ...], "costs": [[3, 4], ...], "usages": [[8, 2], ...]},
//                "edges": {"nodes": [[0, 1], ...], "costs": [[0, 5, 5, 0], ...]}, "usage_limit": 10}}
//
// An answer is a list of strategies: [0, 1, ...].
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partitioner/choice/problem.h"

namespace toroid {

// Costs above kForbidden become kForbidden. Without "usage_limit" there is none.
// Errors: kInvalidArgument in one line: no JSON, a member that is missing or of another type, numbers that are no integers of 64
//         bits, lists whose lengths differ, what VerifyChoiceProblem refuses.
absl::StatusOr<ChoiceProblem> ParseChoiceProblem(absl::string_view text);

std::string PrintChoiceProblem(const ChoiceProblem& problem);

// Errors: kInvalidArgument if it is no list of integers, or not one for `problem` (VerifyChoice).
absl::StatusOr<std::vector<int>> ParseChoice(absl::string_view text, const ChoiceProblem& problem);

std::string PrintChoice(const std::vector<int>& choice);

}  // namespace toroid
