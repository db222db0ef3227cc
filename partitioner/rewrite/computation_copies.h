// Computations that stand in the local program as in the global one: reducers, comparators and the like.
#ifndef TOROID_PARTITIONER_REWRITE_COMPUTATION_COPIES_H_
#define TOROID_PARTITIONER_REWRITE_COMPUTATION_COPIES_H_

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/module.h"

namespace toroid {

class ComputationCopies {
 public:
  // Copies go to `module`.
  explicit ComputationCopies(Module* module) : module_(module) {}

  // The copy of a computation and of all that it calls, made once. Sharding annotations are left out.
  Computation* CopyOf(const Computation* computation);

 private:
  Module* module_;
  absl::flat_hash_map<const Computation*, Computation*> copies_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_COMPUTATION_COPIES_H_
