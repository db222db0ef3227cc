// Why groups and collectives take what they take, as text for people: hlo-simulate --explain.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "simulator/prediction/prediction.h"

namespace toroid {

// Of each group, costliest first: its time, what each unit would take if it waited for nothing, windows, flops and bytes, and
// the rules that decided it with their sentences; of each collective its algorithm, bytes and cause. Those whose instruction,
// name or line contains `part`, all if that is "all"; of one execution each.
// Errors: kNotFound if there are none; the message names the costliest.
absl::StatusOr<std::string> GroupsText(const Prediction& prediction, absl::string_view part);

}  // namespace toroid
