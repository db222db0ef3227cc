// Splits reduce-scatters of several arrays, for readers that know only those of one, such as StableHLO.
//
// Before: all = (f32[4], f32[2]) reduce-scatter(x, y), dimensions={0}, to_apply=add, ...
// After:  a = f32[4] reduce-scatter(x), dimensions={0}, to_apply=add, ...
//         b = f32[2] reduce-scatter(y), dimensions={0}, to_apply=add, ...
// Get-tuple-elements become the arrays; any other user gets a tuple of them. Bytes sent stay the same.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class SplitReduceScattersPass : public Pass {
 public:
  absl::string_view name() const override { return "split_reduce_scatters"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
