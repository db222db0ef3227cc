// Estimates what the later users of a value cost if it exists in other versions than in the present program.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "partitioner/search/present_program.h"

namespace toroid {

class LaterUses {
 public:
  // `units`: those that may cut a factor of a step that is decided anew. Both must outlive this object.
  LaterUses(PresentProgram* program, const AxisUnits& units) : program_(*program), units_(units) {}

  // The cost of step `user`, by the cheapest choice, if tensor `t` has the versions of `set` and all other tensors those of the
  // present program. `is_decided_anew`: whether any choice may be taken, or only the present one.
  double CheapestUse(int user, int t, int set, bool is_decided_anew);

  // Forgets all costs. To be called when a decision of the program has changed.
  void Clear();

 private:
  // The shardings in which some choice of a step takes a tensor, each behind the cost of the cheapest such choice without
  // fetching the tensor; the cheapest first.
  using Uses = std::vector<std::pair<double, int>>;

  double Compute(int user, int t, int set, bool is_decided_anew);
  const Uses& UsesOf(int user, int t, const PartialOperands& passed_on, bool is_decided_anew);
  void AddUse(int user, int t, const NumberedChoice& choice, const PartialOperands& passed_on, Uses* uses);
  double BackToPresent(int step, int result, int set);

  PresentProgram& program_;
  const AxisUnits& units_;
  absl::flat_hash_map<std::tuple<int, int, int, bool>, double> cheapest_;
  absl::flat_hash_map<std::tuple<int, int, uint32_t, AxisSet, bool>, std::unique_ptr<Uses>> uses_;
};

}  // namespace toroid
