// Turns scatters that write at most one element of every row into a choice element by element.
//
//   scatter(x, i, u), one index i[r] and one update u[r] for each row r of x, along one dimension
//   => select(iota == broadcast(i), combiner(x, broadcast(u)), x)
// A scatter takes one transfer for each row; the choice fuses with the ops around it. An index outside of the row equals no
// element's number, so that nothing is written, as scatter has it.
// Example: the gradient of picking each token's log-probability, f32[2048,32000] with 2048 updates.
// Source: seen in Google's compiler for TPU v3.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class RowScatterPass : public Pass {
 public:
  absl::string_view name() const override { return "row_scatter"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
