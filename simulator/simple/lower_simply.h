// A program as steps of a core, by plain rules: the counterpart of simulator/compiler/lower.h.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "simulator/machines/core.pb.h"

namespace toroid {

// A copy in which calls are what they compute, merged collectives are apart, and instructions are in groups (plain_groups.h).
// Errors: kResourceExhausted of inlining.
absl::StatusOr<std::unique_ptr<Module>> LowerSimply(const Module& module, const CoreSpec& core);

}  // namespace toroid
