// A collective, described independently of its opcode: kind, bytes, group.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/ir/instruction.h"

namespace toroid {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,  // ragged-all-to-all too, as if its whole operand were sent in even parts
  kPermute,
  kBroadcast
};

// "all-reduce", ...
absl::string_view CollectiveKindName(CollectiveKind kind);

struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int64_t operand_bytes = 0;  // On one device, over all operands. Saturates.
  int64_t group_size = 1;     // Members of the largest group; all devices for a permute; 0 if unknown.
  // Groups list replicas, not partitions: the op has no channel and no global ids.
  bool across_replicas = false;

  // SentBytes of its bytes and group; a group of unknown size counts as one of one device.
  int64_t sent_bytes() const;
};

// Nullopt for an op that is no collective. The instruction need not be valid.
std::optional<Collective> CollectiveOf(const Instruction& instruction, const DeviceCounts& counts);

// Bytes that each device sends under a bandwidth-optimal algorithm, v local bytes over groups of g:
//   all-gather v (g - 1);  all-reduce 2 v (g - 1) / g;  reduce-scatter, all-to-all v (g - 1) / g;
//   permute, broadcast v
// Example: an all-gather of f32[8] over 4 devices: v = 32, 96 bytes. Saturates.
int64_t SentBytes(CollectiveKind kind, int64_t v, int64_t g);

}  // namespace toroid
