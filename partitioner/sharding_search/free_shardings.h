// Takes shardings out of a module, so that a search may choose them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Takes the shardings off the arguments, results and instructions that a name or glob (prepare/sharding_lines.h) matches, by
// the instruction's name or its op_name; "*" takes all, those of the results and of the whole module too. Calls that do nothing
// but state a sharding stay as ops without one. Names that match in `kept` keep theirs, and so do the borders of manual regions
// (shard_map), whose bodies are written for their shardings. Returns how many shardings went.
// Errors: kNotFound for a glob that matches nothing.
absl::StatusOr<int> FreeShardings(const std::vector<std::string>& freed, const std::vector<std::string>& kept,
                                  Module* module);

// Whether the module has a mesh, or a sharding of any instruction.
bool StatesShardings(const Module& module);

}  // namespace toroid
