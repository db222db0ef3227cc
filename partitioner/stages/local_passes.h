// The passes over the program of one partition, by name.
//
// PartitionOptions::passes lists the passes that run, in order. To add a pass, add its row to local_passes.cc
// (docs/adding_a_pass.md).
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/passes/pass.h"

namespace toroid {

absl::Span<const NamedPass> LocalPasses();

// The entries of a list whose passes may change collectives, for candidates that are only compared.
std::vector<std::string> PassesThatChangeWhatIsSent(absl::Span<const std::string> passes);

}  // namespace toroid
