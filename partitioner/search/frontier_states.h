// States of the search over a part of a program, and the paths that lead to each (frontier_walk.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace toroid {

// The live values whose versions differ from those in the present program at the same step: (tensor, set of
// versions), in order of tensors.
using Difference = absl::InlinedVector<std::pair<int, int>, 6>;

// A path to a state. Its cost and flops are differences from the present program's.
struct Path {
  double cost = 0;
  double flops = 0;
  int last = -1;  // The number of its last decision; -1: none.
};
using Paths = absl::InlinedVector<Path, 1>;

// In the order in which they were reached, so that ties are broken the same way in every run.
class States {
 public:
  struct State {
    Difference difference;
    Paths paths;
  };
  size_t size() const { return states_.size(); }
  std::vector<State>::const_iterator begin() const { return states_.begin(); }
  std::vector<State>::const_iterator end() const { return states_.end(); }
  const State& operator[](size_t i) const { return states_[i]; }

  // The paths to a state, which is added if it is new.
  Paths& At(const Difference& difference) {
    const auto [it, is_new] = number_of_.try_emplace(difference, states_.size());
    if (is_new) states_.push_back({difference, {}});
    return states_[it->second].paths;
  }
  void Clear() {
    number_of_.clear();
    states_.clear();
  }

 private:
  absl::flat_hash_map<Difference, size_t> number_of_;
  std::vector<State> states_;
};

// The set of tensor `t` in a list of (tensor, set); `otherwise` if it is not there.
template <typename Sets>
int SetIn(const Sets& sets, int t, int otherwise) {
  for (const auto& [tensor, set] : sets) {
    if (tensor == t) return set;
  }
  return otherwise;
}

}  // namespace toroid
