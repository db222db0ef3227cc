// The result of partitioning a module.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/provenance/cut_note.h"
#include "partitioner/provenance/replication_log.h"

namespace toroid {

struct Partitioned {
  std::unique_ptr<Module> module;
  int64_t num_partitions = 1;
  std::vector<FullReplication> full_replications;
  std::vector<CutNote> cuts;  // Uneven cuts, and shardings asked for that the program does not follow.
  std::string made_up_axes;   // Mesh axes that causes name if the module names none: "a4, b2".
  // What the module was made from. Null if the module was partitioned by others, or for one device.
  std::shared_ptr<const PreparedProgram> program;
  ShardingPlan shardings;          // Of the tensors of `program`.
  std::string plan;                // As text (plan_text.h), if PartitionOptions::states_plan.
  std::vector<PassReport> passes;  // The passes before propagation and after rewriting, in order.
  double propagate_seconds = 0;
  double partition_seconds = 0;
  double optimize_seconds = 0;
};

}  // namespace toroid
