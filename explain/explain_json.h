// An explanation as JSON: `hlo-partition --explain=json`.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "explain/explanation.h"
#include "hlo/cost/predicted_times.h"

namespace toroid {

// One line of JSON, whose keys are documented in docs/commands.md. `table`: the same as text, for people.
std::string ExplainJson(const Explanation& explanation, int64_t num_partitions, const PredictedTimes* times,
                        absl::string_view table);

}  // namespace toroid
