// The passes that prepare a program for propagation. What each rewrites stands at the top of its source.
// BUILD: srcs += "window_passes.cc", "unmerged_dims_pass.cc", "late_reversals_pass.cc"
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

// Windows at constant positions become slices, pads and dynamic updates (window_passes.cc).
class ConstantStartsPass : public Pass {
 public:
  absl::string_view name() const override { return "constant_starts"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

// Slices of single rows become dynamic slices (window_passes.cc).
class SingleRowsPass : public Pass {
 public:
  absl::string_view name() const override { return "single_rows"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

// Dimensions that a reshape merges stay apart in ops that do not depend on the order of elements.
class UnmergedDimsPass : public Pass {
 public:
  absl::string_view name() const override { return "unmerged_dims"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

// Results are reversed instead of operands, so that reversals meet and cancel.
class LateReversalsPass : public Pass {
 public:
  absl::string_view name() const override { return "late_reversals"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
