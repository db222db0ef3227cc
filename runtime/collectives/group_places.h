// Who meets in a collective: device groups as places among the active devices (MeshContext).
//
// A collective runs for the groups whose members are all active, that is, among the devices which run the
// current computation. A group with some members active and some not would wait for ever on a real machine;
// here it is an error.
#ifndef TOROID_RUNTIME_COLLECTIVES_GROUP_PLACES_H_
#define TOROID_RUNTIME_COLLECTIVES_GROUP_PLACES_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "hlo/ir/replica_groups.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// Places of the members of each group, in group order.
struct GroupPlaces {
  std::vector<std::vector<int64_t>> groups;
  // Every active device is in a group and all groups have this many members; 0 if that is not so.
  int64_t common_size = 0;
  // One group holds all of them, so what it agrees on is uniform.
  bool one_group = false;
};

// The groups of a collective. With `all_take_part` every active device must be in a group.
// Errors: kInvalidArgument "devices 0,2 of group {0,1,2,3} are here, devices 1,3 are not"; a device in no
// group; groups that ExpandDeviceGroups refuses. kUnimplemented in a computation that is applied to elements.
absl::Status FindGroups(OpCall& call, bool all_take_part, const GroupPlaces** groups);

// The pairs (source place, target place) of a collective-permute whose devices are active.
// Errors: as FindGroups, a pair of which only one device is active.
absl::Status FindPairs(OpCall& call, std::vector<std::pair<int64_t, int64_t>>* pairs);

// That groups of `size` make `large` of `small` along dimension d. The verifier cannot always tell: the number of
// participants may be known only to the run.
// Errors: kInvalidArgument.
absl::Status CheckGroupSize(const Shape& small, const Shape& large, int64_t d, int64_t size);

// Sets the result of an n-ary collective: the array, or the tuple of several.
void SetResults(OpCall& call, std::vector<MeshBuffer> results);

// The pieces of a row along dimension d: `outer` runs of `count` * `inner` bytes.
struct PieceLayout {
  int64_t outer = 1, count = 1, inner = 1;
  PieceLayout(const Shape& shape, int64_t d);
};

}  // namespace toroid

#endif  // TOROID_RUNTIME_COLLECTIVES_GROUP_PLACES_H_
