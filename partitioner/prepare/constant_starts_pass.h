// Windows at constant places as slices and dynamic updates, whose rows halo exchanges fetch.
//
//   dynamic-slice of several rows from a constant start   => slice; of other dimensions: a dynamic-slice of that
//   gather of one window from constant starts             => reshape(slice)
//   scatter of one window to constant starts              => dynamic-update-slice(x, reshape(u))
//     that a reducer combines with what is there          => dynamic-update-slice(x, reducer(slice(x), reshape(u)))
//     of half of x at least                               => reducer(x, pad(reshape(u))), padded with what leaves x unchanged
//
// Starts are clamped as the ops do; a scatter whose window does not fit inside stays as it is (it does nothing).
// Example: x f32[256,256] over [4,4], x[16:, 16:] += u: shifts by 16 rows and columns, 6 kB; all devices would gather u, 461 kB.
#ifndef TOROID_PARTITIONER_PREPARE_CONSTANT_STARTS_PASS_H_
#define TOROID_PARTITIONER_PREPARE_CONSTANT_STARTS_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"
#include "partitioner/prepare/given_shardings.h"

namespace toroid {

class ConstantStartsPass : public Pass {
 public:
  // A replacement of an instruction in `given`, if that is not null, takes its place in the set.
  explicit ConstantStartsPass(GivenShardings* given = nullptr) : given_(given) {}
  absl::string_view name() const override { return "constant_starts"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  GivenShardings* given_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_CONSTANT_STARTS_PASS_H_
