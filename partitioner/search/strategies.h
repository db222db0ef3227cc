// The table of strategies. To add one: a function in a file of its own, and its row in strategies.cc
// (docs/adding_a_strategy.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "partitioner/search/strategy.h"

namespace toroid {

// In the order in which they run by default.
absl::Span<const Strategy> Strategies();

// The entry by which all strategies are tried on equivalent forms of the program, too (../stages/forms_to_try.h).
inline constexpr absl::string_view kForms = "forms";

struct ListedStrategy {
  const Strategy* strategy = nullptr;
  int64_t steps = 0;  // Its budget.
};

// The strategies of a list of names, in its order, without kForms. NAME:steps=NUMBER sets a budget.
// Errors: kInvalidArgument for an unknown name (the message lists the known ones), for a malformed number, and for a budget of
// a strategy that has none.
absl::StatusOr<std::vector<ListedStrategy>> ListStrategies(absl::Span<const std::string> entries);

}  // namespace toroid
