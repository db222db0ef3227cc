// A small value for every array leaf of every instruction, for analyses that follow data through tuples,
// calls and loops until nothing changes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

// T: a value type; T() is the least one.
template <typename T>
class LeafStates {
 public:
  explicit LeafStates(const Module& module) {
    for (const auto& computation : module.computations()) {
      auto& states = states_.emplace_back();
      for (const auto& instruction : computation->instructions()) {
        states.emplace_back(static_cast<size_t>(instruction->shape().NumLeaves()));
      }
    }
  }

  // One per leaf, in pre-order.
  std::vector<T>& of(const Instruction& instruction) {
    return states_[instruction.computation()->index()][instruction.index()];
  }

  // Number of the first leaf of element `index` of a tuple.
  static int64_t FirstLeaf(const Shape& tuple, int64_t index) {
    int64_t leaf = 0;
    for (int64_t i = 0; i < index; ++i) leaf += tuple.tuple_shape(i).NumLeaves();
    return leaf;
  }

 private:
  std::vector<std::vector<std::vector<T>>> states_;  // By computation and instruction.
};

}  // namespace toroid
