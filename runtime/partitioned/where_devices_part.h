// Where two devices that should hold the same output begin to hold different values.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/engine/executor.h"
#include "runtime/partitioned/shard_literal.h"

namespace toroid {

// Runs `partitioned` once more, keeps every value of the entry that the output depends on, and follows those that differ
// between the two devices from the output back to their origin. `options`: of the run that found the disagreement.
// Returns a sentence. If the origin is an op whose operands agree, that op: "the first op whose results differ is noise
// (dropout.py:3)". If it is an argument of which each device has its own part, the collective that should have joined the
// devices: "all-reduce psum (grad.py:6) joins devices {0,1} and {2,3}, not 0 with 2".
// Errors: those of CutLiteral and RunModule, kResourceExhausted among them, since all values are kept.
absl::StatusOr<std::string> WhereDevicesPart(const Module& partitioned, absl::Span<const Literal> arguments,
                                             const Disagreement& disagreement, const RunOptions& options);

}  // namespace toroid
