// Checks of the device groups of collectives, without listing the devices of iota and mesh forms.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "hlo/proto/hlo.pb.h"

namespace toroid {

struct DeviceGroupSizes {
  bool given = false;           // false: one group of all participants
  std::optional<int64_t> size;  // members per group, if all groups have the same number
  int64_t members = 0;          // of all groups
  int64_t end = 0;              // one more than the largest id
};

// Sizes of the groups of `instruction`; if several fields hold groups, of the one that takes precedence.
// Errors, by the numbers of collectives.h: C1 for empty groups, negative or repeated ids; C2 for iotas and
// meshes whose sizes contradict each other or exceed kMaxDevices devices; C3 for groups of different sizes
// unless `may_differ`.
absl::StatusOr<DeviceGroupSizes> CheckDeviceGroups(const xla::HloInstructionProto& instruction,
                                                   bool may_differ);

}  // namespace toroid
