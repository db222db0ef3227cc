// What is done to each element of a convolution's results is done before they are moved, within its group:
//   maximum(reshape(transpose(reshape(y))), zero), y a convolution that nothing else reads
//     => reshape(transpose(reshape(maximum(y, zero))))
// Example: y f32[4,48,48,256], four features of each place becoming four places f32[4,96,96,64] before they are clipped.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class MovedResultsPass : public Pass {
 public:
  absl::string_view name() const override { return "moved_results"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
