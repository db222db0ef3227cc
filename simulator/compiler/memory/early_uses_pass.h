// Runs an op that makes little of a large value as early as possible, so that the large value's memory is free sooner.
//
// Going through the program in its order, an op runs early, as soon as its operands are there, if it frees as much
// temporary memory as it takes, takes at most an eighth of the largest array it reads, or too little to count (a 4096th of
// what the program needs): a norm of a gradient, and then the update of the weight, which lies in the weight's own place. Ops
// that write where an operand lies, exchange with other devices, run bodies or have effects stay where they are, and nothing
// overwrites a donated argument before what read it before. The new order is taken if the program needs less memory in it.
//   g1 = .., g2 = .. g1 .., u1 = update(w1, g1), u2 = update(w2, g2)   =>  g1 = .., g2 = .., ..
//                                                         as  g1 = .., u1 = update(w1, g1), g2 = .., u2 = update(w2, g2)
// Source: the rule of XLA's list scheduler, most bytes freed first, for ops that have no reason to wait.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"
#include "simulator/program/tiling.h"

namespace toroid {

class EarlyUsesPass : public Pass {
 public:
  explicit EarlyUsesPass(const Tiling& tiling) : tiling_(tiling) {}
  absl::string_view name() const override { return "early_uses"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const Tiling tiling_;
};

}  // namespace toroid
