// Rewrites windows at constant positions as slices, pads and dynamic updates, whose rows halo exchanges
// fetch.
//
//   dynamic-slice of several rows from a constant start  => slice; then a dynamic-slice in other dimensions
//   gather of one window from constant starts            => reshape(slice)
//   scatter of one window to constant starts that
//     replaces the rows of x                        => dynamic-update-slice(x, reshape(u))
//     combines less than half of x with a reducer   => dynamic-update-slice(x, reducer(slice(x), reshape(u)))
//     combines at least half of x with a reducer    => reducer(x, pad(reshape(u))), with neutral padding
//
// Starts are clamped as the dynamic-slice and the gather do. A scatter whose window exceeds x is left alone
// (it has no effect).
// Example: x[16:, 16:] += u with x f32[256,256] over [4,4] shifts u by 16 rows and columns, 6 kB per device;
// as a scatter, all devices would gather u, 461 kB.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class ConstantStartsPass : public Pass {
 public:
  absl::string_view name() const override { return "constant_starts"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
