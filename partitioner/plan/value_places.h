// The shardings in which each value exists at one point of a program.
#pragma once

#include <algorithm>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "partitioner/plan/program_steps.h"
#include "partitioner/plan/version_sets.h"

namespace toroid {

class ValuePlaces {
 public:
  // Before the first step. Both must outlive this object.
  ValuePlaces(const ProgramSteps& steps, const VersionSets& versions) : steps_(steps), versions_(versions) {
    for (int t = 0; t < steps.num_tensors(); ++t) sets_.push_back(steps.initial(t));
  }

  // The number of a tensor's set of shardings.
  int set(int tensor) const { return sets_[tensor]; }
  void Put(int tensor, int set) { sets_[tensor] = set; }

  // The pointers hold until a sharding gets a number that has none yet.
  absl::InlinedVector<const Sharding*, 4> PlacesOf(int tensor) const {
    absl::InlinedVector<const Sharding*, 4> places;
    for (const int number : versions_.set(sets_[tensor])) places.push_back(&versions_.sharding(number));
    return places;
  }
  // Whether each device can compute the tensor in any sharding, without communication (free_values.h).
  bool IsFree(int tensor) const { return steps_.is_free(tensor) || sets_[tensor] == VersionSets::kAnywhere; }
  // True if the tensor exists and only as partial sums, maxima, ...: still to be reduced over devices.
  bool IsPartial(int tensor) const {
    const std::vector<int>& set = versions_.set(sets_[tensor]);
    return !set.empty() && std::all_of(set.begin(), set.end(),
                                       [&](int number) { return versions_.sharding(number).partial != 0; });
  }

 private:
  const ProgramSteps& steps_;
  const VersionSets& versions_;
  std::vector<int> sets_;  // By tensor.
};

}  // namespace toroid
