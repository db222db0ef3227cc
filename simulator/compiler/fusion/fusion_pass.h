// Puts instructions into groups that run as one: `fusion` instructions.
//
// Written to memory are results of dots, convolutions, reductions, windows, gathers, scatters, sorts, concatenations, pads,
// copies, exchanges between devices, and of the program. Everything else (elementwise ops, broadcasts, slices, transposes and
// reshapes that move nothing) is computed again inside every group that reads it, unless that moves more bytes. Take a value
// that is made of k arrays of its size and read by r groups: if each group makes it, r k arrays are read; if it is written, k
// are read, one is written, and r are read. A product takes the elementwise ops behind it, and reductions of their result:
//   y = relu(dot(x, w) + b), m = max(y)  => one fusion with results y and m; y is not written if only m is read.
// Two groups that work on arrays of the same sizes, share an operand of these sizes, compute one type, and neither of which
// needs a result of the other, merge:
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
  // `planner`: says what runs together instead of PlanGroups.
  explicit FusionPass(const Tiling& tiling, GroupPlanner planner = nullptr)
      : tiling_(tiling), planner_(std::move(planner)) {}
  absl::string_view name() const override { return "fusion"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const Tiling tiling_;
  const GroupPlanner planner_;
};

}  // namespace toroid
