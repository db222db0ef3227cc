// The shardings in which each value exists at one point of a program.
//
// Deciding how an op is computed asks no more of values than this, so that it works on plans (greedy_plan.h) as well as on
// programs that are being written (../rewrite/sharded_values.h).
#ifndef TOROID_PARTITIONER_PLAN_VALUE_PLACES_H_
#define TOROID_PARTITIONER_PLAN_VALUE_PLACES_H_

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "hlo/devices/mesh.h"

namespace toroid {

class ValuePlaces {
 public:
  virtual ~ValuePlaces() = default;

  // The shardings of a tensor. The pointers hold until the next version of any tensor is added.
  virtual absl::InlinedVector<const Sharding*, 4> PlacesOf(int tensor) const = 0;
  // Whether each device can compute the tensor in any sharding, without communication (free_values.h).
  virtual bool IsFree(int tensor) const = 0;

  // True if the tensor exists and only as partial sums, maxima, ...: still to be reduced over devices.
  bool IsPartial(int tensor) const {
    const auto places = PlacesOf(tensor);
    return !places.empty() && std::all_of(places.begin(), places.end(),
                                          [](const Sharding* place) { return place->partial != 0; });
  }
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PLAN_VALUE_PLACES_H_
