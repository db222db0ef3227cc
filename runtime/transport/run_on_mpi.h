// A program on the ranks of mpirun: rank 0 does what its command line says, the others take part in its runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/transport/transport.h"

namespace toroid {

// Every rank says what it was asked to do, and which files it would read: their bytes may be different where the ranks
// have disks of their own. `files` may name streams, which count by their names; empty names count nothing.
// Errors, the same on every rank: kInvalidArgument that names the rank and what is different there.
absl::Status CheckRanksAgree(Transport& transport, const std::string& command_line,
                             const std::vector<std::string>& files);

// Joins the ranks of mpirun; calls `lead` on rank 0 and `serve` on the others. Does not return where a rank fails: rank
// 0 prints what is wrong, and all end with status 1. Larger messages than `max_message` bytes are sent in parts.
// Errors: kFailedPrecondition without Open MPI.
absl::Status RunOnMpi(const std::string& command_line, const std::vector<std::string>& files,
                      const std::function<absl::Status(Transport& transport, int neighbors)>& lead,
                      const std::function<absl::Status(Transport& transport, int neighbors)>& serve,
                      int64_t max_message = int64_t{1} << 30);

}  // namespace toroid
