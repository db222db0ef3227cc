// Copies arguments of the program that are updated in place or returned and still belong to the caller, and results that are
// returned a second time.
//
//   dynamic-update-slice(p, ..), scatter(p, ..)  =>  the same of copy(p), if p is an argument that is not donated, or another
//                                                    name of one
//   (p, x, x)  =>  (copy(p), x, copy(x))
// Example: a step of decoding that returns its cache takes a pass over all of it unless the caller gives it away.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"
#include "simulator/program/tiling.h"

namespace toroid {

class CopyInsertionPass : public Pass {
 public:
  explicit CopyInsertionPass(const Tiling& tiling) : tiling_(tiling) {}
  absl::string_view name() const override { return "copy_insertion"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const Tiling tiling_;
};

}  // namespace toroid
