// Finds the members of each group of a collective, as places among the active devices (MeshContext).
//
// A collective runs for the groups whose members are all active, that is, among the devices that run the
// current computation. A group with some members active and some not would hang on a real machine; here it is
// an error.
#pragma once

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "hlo/devices/replica_groups.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Places of the members of each group, in group order.
struct GroupPlaces {
  std::vector<std::vector<int64_t>> groups;
  // The number of members of every group, if all groups are equally large and hold every active device; else
  // 0.
  int64_t common_size = 0;
  // One group holds all active devices, so a value that its members agree on is uniform.
  bool one_group = false;
};

// The groups of a collective. With `all_take_part` every active device must be in a group.
// Errors: kInvalidArgument "devices 0,2 of group {0,1,2,3} are here, devices 1,3 are not"; a device in no
// group; groups that ExpandDeviceGroups refuses. kUnimplemented in a computation that is applied to elements.
absl::Status FindGroups(OpCall& call, bool all_take_part, const GroupPlaces** groups);

// The pairs (source place, target place) of a collective-permute whose devices are active.
// Errors: as FindGroups, a pair with only one active device.
absl::Status FindPairs(OpCall& call, std::vector<std::pair<int64_t, int64_t>>* pairs);

// Checks that groups of `size` turn `small` into `large` along dimension d. The verifier cannot always do so,
// because the number of participants may be known only when the program runs.
// Errors: kInvalidArgument.
absl::Status CheckGroupSize(const Shape& small, const Shape& large, int64_t d, int64_t size);

// Sets the result of an n-ary collective: the array, or the tuple of several.
void SetResults(OpCall& call, std::vector<MeshBuffer> results);

// A row cut along dimension d: `outer` runs of `count` * `inner` bytes.
struct PieceLayout {
  int64_t outer = 1, count = 1, inner = 1;
  PieceLayout(const Shape& shape, int64_t d);
};

}  // namespace toroid
