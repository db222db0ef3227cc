// Puts instructions into groups that run as one: `fusion` instructions.
//
// Written to memory are results of dots, convolutions, reductions, windows, gathers, scatters, sorts, concatenations, pads, copies,
// exchanges between devices, and of the program. Everything else (elementwise ops, broadcasts, slices, transposes and reshapes that move
// nothing) is computed anew inside every group that reads it, unless its r readers would read more for it than writing it would: r
// arrays each, against one write and r reads. A product takes the elementwise ops behind it, and reductions of their result:
//   y = relu(dot(x, w) + b), m = max(y)  => one fusion with results y and m; y is not written if only m is read.
// Groups that read the same array over the same elements, neither of which waits for the other, merge if they compute one type:
//   sum(x), max(x)  => one fusion with two results.
// The family "fusion" of docs/rules.md says in which other cases values are written, taken or merged.
// Source: XLA's instruction fusion and multi-output fusion, with the choices seen in Google's compiler for TPU v3.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "hlo/passes/pass.h"
#include "simulator/compiler/fusion/group_plan.h"
#include "simulator/program/tiling.h"

namespace toroid {

using GroupPlanner = std::function<GroupPlan(const Computation& computation)>;

class FusionPass : public Pass {
 public:
  // Groups by the rules above, or by others.
  explicit FusionPass(const Tiling& tiling, GroupPlanner planner = nullptr)
      : tiling_(tiling), planner_(std::move(planner)) {}
  absl::string_view name() const override { return "fusion"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const Tiling tiling_;
  const GroupPlanner planner_;
};

}  // namespace toroid
