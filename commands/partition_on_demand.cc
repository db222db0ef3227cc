#include "commands/partition_on_demand.h"

#include <utility>

#include "hlo/analysis/sharding_stats.h"
#include "hlo/base/status.h"
#include "hlo/devices/spmd_record.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {
namespace {

bool NamesDevices(const Module& module) {
  return ComputeShardingStats(module).devices > 1 || HasManualRegions(module);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Module>> PartitionOnDemand(const Module& module,
                                                                const PartitionOptions& options) {
  if (options.num_partitions == 1) return nullptr;
  if (options.num_partitions == 0 && !NamesDevices(module)) return nullptr;
  ASSIGN_OR_RETURN(Partitioned partitioned, PartitionModule(module, options));
  return std::shared_ptr<const Module>(std::move(partitioned.module));
}

}  // namespace toroid
