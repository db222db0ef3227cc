// Copies of computations that are the same in the local as in the global program: reducers, comparators and
// the like.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/module.h"

namespace toroid {

class ComputationCopies {
 public:
  // The copies are added to `module`.
  explicit ComputationCopies(Module* module) : module_(module) {}

  // Returns the copy of a computation; copies it and all computations it calls at the first call. Omits
  // Sharding annotations.
  Computation* CopyOf(const Computation* computation);

 private:
  Module* module_;
  absl::flat_hash_map<const Computation*, Computation*> copies_;
};

}  // namespace toroid
