// Slices of single rows as dynamic slices: of a cut dimension these are masked and summed, wherever the row lies.
//
//   reshape(slice(x)) of one row        => reshape(dynamic-slice(x)) at a constant start
//   reshape(slice(x)) of other rows too => reshape(slice(dynamic-slice(x)))
//
// A slice fetches rows to tiles of its result, which suits what reads the result in tiles. A dimension of one row that a
// reshape drops (x[:, 0], u[8, 3]) has none: the row is wanted as a whole by all.
// Example: x [4,64,32], sequence cut over 4, x[:, 0] wanted by all: an all-reduce of a row. By tiles it would first travel to the
// first device.
#ifndef TOROID_PARTITIONER_PREPARE_SINGLE_ROWS_PASS_H_
#define TOROID_PARTITIONER_PREPARE_SINGLE_ROWS_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class SingleRowsPass : public Pass {
 public:
  absl::string_view name() const override { return "single_rows"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_SINGLE_ROWS_PASS_H_
