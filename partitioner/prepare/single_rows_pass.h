// Rewrites slices of single rows as dynamic slices. In a cut dimension, a dynamic slice is masked and
// all-reduced, wherever the row is.
//
//   reshape(slice(x)) of one row                         => reshape(dynamic-slice(x)) at a constant start
//   reshape(slice(x)) that cuts other dimensions as well => reshape(slice(dynamic-slice(x)))
//
// The local program of a slice moves rows to the tiles of its result, which suits users that read tiles. A
// dimension of size 1 that a reshape drops (x[:, 0], u[8, 3]) has no tiles: all devices need the row.
// Example: x [4,64,32], its sequence dimension 1 cut over 4 devices. If all devices need x[:, 0], the row is
// all-reduced. As a tile of a slice it would first travel to the first device.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class SingleRowsPass : public Pass {
 public:
  absl::string_view name() const override { return "single_rows"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
