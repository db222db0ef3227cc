// Splits reduce-scatters and collective-permutes of several arrays: StableHLO has only those of one.
//
// Before: all = (f32[4], f32[2]) reduce-scatter(x, y), dimensions={0}, to_apply=add, ...
// After:  a = f32[4] reduce-scatter(x), dimensions={0}, to_apply=add, ...
//         b = f32[2] reduce-scatter(y), dimensions={0}, to_apply=add, ...
// Get-tuple-elements become the arrays; any other user gets a tuple of them. Bytes sent stay the same.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class SplitForStableHloPass : public Pass {
 public:
  absl::string_view name() const override { return "split_for_stablehlo"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
