// Reads the options of custom-calls: backend_config text such as "dimension=0,amount=2,start_indices=[1,0]".
//
// Reads JSON and attribute dictionaries as well: {"top_k": 3} and {top_k = 3 : i64}.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace toroid {

// The integers of option `key`: one, or the elements of a list; true is 1, false 0. nullopt if the text has
// no such option, or its value is not integers.
std::optional<std::vector<int64_t>> FindOption(absl::string_view config, absl::string_view key);

// The one integer of option `key`.
// Errors: kInvalidArgument if there is none.
absl::StatusOr<int64_t> IntOption(absl::string_view config, absl::string_view key);

}  // namespace toroid
