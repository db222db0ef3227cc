// Works on arrays whose dimensions a reshape merged as if it had not.
//
//   y = reshape(x), [.., a, b] to [.., a b];  f(y, broadcast(m))  =>  f(x, broadcast(m)); whoever must reads its reshape
//   reduce(y, the merged dimension)                               =>  reduce(x, both)
//   dot(y, w) that contracts the merged dimension                 =>  dot(x, reshape(w))
//   reshape(f(y)) back to [.., a, b]                              =>  nothing
// A cut along b is no cut of a b, so that merging gathers x. As long as values are read op by op, element by element, or summed,
// the order in which they lie does not matter.
// Example: group norm of f32[2,12,64,8], columns over 8 devices, that takes means over its reshape f32[2,768,2,4]: partial sums of 4
// values are reduced, and nothing else; 32 kB are gathered otherwise, and all that follows is computed on every device.
#ifndef TOROID_PARTITIONER_PREPARE_UNMERGED_DIMS_PASS_H_
#define TOROID_PARTITIONER_PREPARE_UNMERGED_DIMS_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"
#include "partitioner/prepare/given_shardings.h"

namespace toroid {

class UnmergedDimsPass : public Pass {
 public:
  // A replacement of an instruction in `given`, if that is not null, takes its place in the set.
  explicit UnmergedDimsPass(GivenShardings* given = nullptr) : given_(given) {}
  absl::string_view name() const override { return "unmerged_dims"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  GivenShardings* given_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_UNMERGED_DIMS_PASS_H_
