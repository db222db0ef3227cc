// The passes over the program of one partition, by name.
//
// PartitionOptions::passes lists those that run, and in which order. To add one: its row here (docs/adding_a_pass.md).
#ifndef TOROID_PARTITIONER_STAGES_LOCAL_PASSES_H_
#define TOROID_PARTITIONER_STAGES_LOCAL_PASSES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/passes/pass.h"

namespace toroid {

absl::Span<const NamedPass> LocalPasses();

// DefaultPasses() without those that change no collective, for candidates that are only compared.
std::vector<std::string> DefaultPassesThatChangeWhatIsSent();

}  // namespace toroid

#endif  // TOROID_PARTITIONER_STAGES_LOCAL_PASSES_H_
