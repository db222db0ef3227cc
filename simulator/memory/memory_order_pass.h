// Puts the ops of each computation into an order in which they need little memory.
//
// Of the program's order, two depth-first ones and the one that always takes the op that frees most bytes (memory_order.h),
// the one with the lowest peak. Arrays take the room of their tiles, in the order of dimensions that pads least.
//   t = while .., g = product(x, d), .. d is dead ..   =>   g = product(x, d), t = while ..: d does not outlive the loop
// Source: XLA's memory scheduler, which tries such orders of each computation and takes the best.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"
#include "simulator/program/tiling.h"

namespace toroid {

class MemoryOrderPass : public Pass {
 public:
  explicit MemoryOrderPass(const Tiling& tiling) : tiling_(tiling) {}
  absl::string_view name() const override { return "memory_order"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const Tiling tiling_;
};

}  // namespace toroid
