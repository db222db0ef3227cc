// What a command line says about how a module is cut, beside what the module says.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "hlo/passes/change_mesh.h"
#include "partitioner/prepare/sharding_lines.h"

namespace toroid {

struct GivenShardings {
  std::vector<AxisSize> mesh;       // --mesh: other sizes for the axes of the module's mesh.
  std::vector<ShardingLine> lines;  // --shard.
  bool empty() const { return mesh.empty() && lines.empty(); }
};

// Adds the flags --mesh and --shard.
void AddShardingFlags(CLI::App& app, GivenShardings* given);

// That a module that is partitioned takes neither flag.
absl::Status IsPartitionedAlready(const GivenShardings& given);

// Changes the mesh first, so that lines are over the new one. Adds what a user should know to `notes`.
// Errors: those of ChangeMesh and ApplyShardingLines; kInvalidArgument for a module that is partitioned already.
absl::Status GiveShardings(const GivenShardings& given, Module* module,
                           std::vector<std::string>* notes = nullptr);

}  // namespace toroid
