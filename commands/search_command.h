// hlo-partition --search=shardings: the shardings of the module are chosen by a search, and told by few annotations.
#pragma once

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "commands/partition_input.h"

namespace toroid {

// Adds --search, --free, --fix, --memory, --search_steps, --search_seconds and --repeats.
void AddSearchFlags(CLI::App& app, SearchRequest* request);

// Searches, prints what was found beside the module's own shardings, writes --annotations, and gives the module of `input` the
// annotations that were found. Ctrl-C ends the search with the best so far.
// Errors: those of FindShardings; kAlreadyExists for a file of --annotations that no search has written.
absl::Status SearchShardings(const PartitionCommand& command, PartitionInput* input);

}  // namespace toroid
