// The passes over the program of one partition, by name.
//
// PartitionOptions::passes lists the passes that run, in order. To add a pass, add its row to local_passes.cc
// (docs/adding_a_pass.md).
#pragma once

#include "absl/types/span.h"
#include "hlo/passes/pass.h"

namespace toroid {

absl::Span<const NamedPass> LocalPasses();

}  // namespace toroid
