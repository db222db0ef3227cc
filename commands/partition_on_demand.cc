#include "commands/partition_on_demand.h"

#include <utility>
#include <vector>

#include "hlo/analysis/sharding_stats.h"
#include "hlo/base/status.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/ir/edit.h"
#include "partitioner/prepare/sharding_lines.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {
namespace {

bool NamesDevices(const Module& module) {
  return ComputeShardingStats(module).devices > 1 || HasManualRegions(module);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Module>> PartitionOnDemand(const Module& module,
                                                                absl::Span<const std::string> shardings,
                                                                const PartitionOptions& options) {
  if (options.num_partitions == 1) return nullptr;
  if (options.num_partitions == 0 && shardings.empty() && !NamesDevices(module)) return nullptr;
  std::vector<ShardingLine> lines;
  for (const std::string& line : shardings) lines.push_back({line, ""});
  const std::unique_ptr<Module> annotated = CloneModule(module);
  RETURN_IF_ERROR(ApplyShardingLines(lines, annotated.get()));
  ASSIGN_OR_RETURN(Partitioned partitioned, PartitionModule(*annotated, options));
  return std::shared_ptr<const Module>(std::move(partitioned.module));
}

}  // namespace toroid
