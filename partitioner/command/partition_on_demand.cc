#include "partitioner/command/partition_on_demand.h"

#include <utility>
#include <vector>

#include "hlo/analysis/sharding_stats.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/spmd_record.h"
#include "partitioner/prepare/given_shardings.h"
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
  std::vector<GivenSharding> lines;
  for (const std::string& line : shardings) lines.push_back({line, ""});
  const std::unique_ptr<Module> annotated = CloneModule(module);
  ASSIGN_OR_RETURN(const GivenShardings given, ApplyGivenShardings(lines, annotated.get()));
  ASSIGN_OR_RETURN(Partitioned partitioned, PartitionModule(*annotated, options, given));
  return std::shared_ptr<const Module>(std::move(partitioned.module));
}

}  // namespace toroid
