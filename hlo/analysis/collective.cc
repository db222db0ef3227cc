#include "hlo/analysis/collective.h"

#include <algorithm>
#include <set>

#include "hlo/analysis/work.h"
#include "hlo/base/math.h"

namespace toroid {
namespace {

std::optional<CollectiveKind> KindOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      return CollectiveKind::kAllReduce;
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
      return CollectiveKind::kAllGather;
    case Opcode::kReduceScatter:
      return CollectiveKind::kReduceScatter;
    case Opcode::kAllToAll:
    case Opcode::kRaggedAllToAll:
      return CollectiveKind::kAllToAll;
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      return CollectiveKind::kPermute;
    case Opcode::kCollectiveBroadcast:
      return CollectiveKind::kBroadcast;
    default:
      return std::nullopt;
  }
}

}  // namespace

absl::string_view CollectiveKindName(CollectiveKind kind) {
  static constexpr absl::string_view kNames[] = {"all-reduce", "all-gather",         "reduce-scatter",
                                                 "all-to-all", "collective-permute", "collective-broadcast"};
  return kNames[static_cast<int>(kind)];
}

std::optional<Collective> CollectiveOf(const Instruction& instruction, const DeviceCounts& counts) {
  const std::optional<CollectiveKind> kind = KindOf(instruction.opcode());
  if (!kind) return std::nullopt;
  Collective collective;
  collective.kind = *kind;
  for (const Instruction* operand : instruction.operands()) {
    collective.operand_bytes = SaturatingAdd(collective.operand_bytes, ArrayBytes(operand->shape()));
  }
  collective.across_replicas =
      instruction.attrs().channel_id() == 0 && !instruction.attrs().use_global_device_ids();
  if (*kind == CollectiveKind::kPermute) {
    collective.group_size = std::max<int64_t>(1, counts.partitions.value_or(counts.replicas.value_or(1)));
    return collective;
  }
  const std::optional<std::set<int64_t>> sizes = GroupSizesOf(instruction, counts);
  collective.group_size = sizes && !sizes->empty() ? *sizes->rbegin() : 0;
  return collective;
}

int64_t SentBytes(CollectiveKind kind, int64_t v, int64_t g) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return SaturatingMultiply(v, g - 1);
    case CollectiveKind::kAllReduce:
      return SaturatingMultiply(2, SaturatingMultiply(v, g - 1)) / g;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return SaturatingMultiply(v, g - 1) / g;
    case CollectiveKind::kPermute:
    case CollectiveKind::kBroadcast:
      return v;
  }
  return v;
}

int64_t Collective::sent_bytes() const {
  return SentBytes(kind, operand_bytes, std::max<int64_t>(1, group_size));
}

}  // namespace toroid
