// `hlo-partition --why_json`: where the axes of all values come from, for tools. One JSON object; docs/commands.md explains its
// keys.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// Values without a cut are left out. Errors: kFailedPrecondition if the module was not partitioned here.
absl::StatusOr<std::string> WhyJson(const Partitioned& partitioned);

}  // namespace toroid
