// Searches for programs that send or compute less than the one that the ops by themselves make.
#ifndef TOROID_PARTITIONER_STAGES_SEARCH_H_
#define TOROID_PARTITIONER_STAGES_SEARCH_H_

#include "partitioner/stages/candidate.h"

namespace toroid {

// Looks for a plan, and for ways to compute all ops together, under which the program sends less or computes less, and
// neither more.
absl::Status SearchCandidates(const PartitionOptions& options, PreparedProgram* program, Candidate* best);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_STAGES_SEARCH_H_
