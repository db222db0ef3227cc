// Relative costs of instructions, for passes that compare the lengths of paths through a program.
//
// The unit is a byte of memory traffic. Every instruction writes its result; a collective also sends it over
// slower links; a contraction also computes. A loop counts as often as it runs. The simulator, not this,
// predicts times on a machine.
#pragma once

#include <vector>

#include "hlo/ir/module.h"

namespace toroid {

class RoughCosts {
 public:
  explicit RoughCosts(const Module& module);
  double CostOf(const Instruction& op) const;

 private:
  std::vector<double> of_computation_;  // By index: the cost of one run.
};

}  // namespace toroid
