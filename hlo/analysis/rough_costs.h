// What instructions cost against each other, for passes that ask which of two ways is the longer one.
//
// In bytes of memory traffic: an instruction writes its result, a collective sends it over links that are slower, a
// contraction computes. Loops count with their trips. Times of a machine are the simulator's business.
#ifndef TOROID_HLO_ANALYSIS_ROUGH_COSTS_H_
#define TOROID_HLO_ANALYSIS_ROUGH_COSTS_H_

#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

class RoughCosts {
 public:
  explicit RoughCosts(const Module& module);
  double CostOf(const Instruction& op) const;

 private:
  std::vector<double> of_computation_;  // When it runs once, by its index.
};

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_ROUGH_COSTS_H_
