// Searches for programs that send or compute less than the one in which each op is decided alone.
#ifndef TOROID_PARTITIONER_STAGES_SEARCH_H_
#define TOROID_PARTITIONER_STAGES_SEARCH_H_

#include "partitioner/stages/candidate.h"

namespace toroid {

// Searches for a plan of shardings, and for decisions of many ops together, under which the program sends
// less or computes less than `*best`, and neither more. Replaces `*best` if it finds one. Changes the
// annotations of `program`.
absl::Status SearchCandidates(const PartitionOptions& options, PreparedProgram* program, Candidate* best);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_STAGES_SEARCH_H_
