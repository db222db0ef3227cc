#include "hlo/base/status.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/ir/module.h"
#include "hlo/stablehlo/write/attribute_texts.h"

namespace toroid {
namespace {

std::string Channel(const Instruction& op) {
  if (op.attrs().channel_id() <= 0) return "";
  return absl::StrCat("channel_handle = #stablehlo.channel_handle<handle = ", op.attrs().channel_id(),
                      ", type = 1>");
}

// Groups of fewer members than the largest are filled up with -1.
Text Groups(const Instruction& op) {
  ASSIGN_OR_RETURN(const DeviceGroups groups, ListedDeviceGroups(op));
  size_t most = 0;
  for (int64_t g = 0; g < groups.size(); ++g) most = std::max(most, groups.group(g).size());
  std::vector<std::vector<int64_t>> rows;
  for (int64_t g = 0; g < groups.size(); ++g) {
    rows.emplace_back(groups.group(g).begin(), groups.group(g).end()).resize(most, -1);
  }
  return Join(Channel(op), absl::StrCat("replica_groups = ", DenseRows(rows, most)));
}

Text GlobalGroups(const Instruction& op, const std::string& first) {
  ASSIGN_OR_RETURN(const std::string groups, Groups(op));
  return Join(first, groups, op.attrs().use_global_device_ids() ? "use_global_device_ids" : "");
}

}  // namespace

Text AllGatherText(const Instruction& op) {
  return GlobalGroups(op, Integer("all_gather_dim", op.dimension()));
}
Text AllReduceText(const Instruction& op) { return GlobalGroups(op, ""); }
Text ReduceScatterText(const Instruction& op) {
  return GlobalGroups(op, Integer("scatter_dimension", op.dimension()));
}

Text AllToAllText(const Instruction& op) {
  if (op.dimensions().empty()) return absl::InvalidArgumentError("StableHLO has no all-to-all of a tuple");
  ASSIGN_OR_RETURN(const std::string groups, Groups(op));
  ASSIGN_OR_RETURN(const DeviceGroups listed, ListedDeviceGroups(op));
  const int64_t count =
      listed.size() > 0 ? static_cast<int64_t>(listed.group(0).size()) : op.module()->config().num_partitions;
  return Join(groups, Integer("concat_dimension", op.dimension()), Integer("split_count", count),
              Integer("split_dimension", op.dimension()));
}

Text PermuteText(const Instruction& op) {
  std::vector<std::vector<int64_t>> pairs;
  for (const auto& pair : op.attrs().source_target_pairs()) pairs.push_back({pair.source(), pair.target()});
  return Join(Channel(op), absl::StrCat("source_target_pairs = ", DenseRows(pairs, 2)));
}

Text CollectiveBroadcastText(const Instruction& op) { return Groups(op); }

}  // namespace toroid
