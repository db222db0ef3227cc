// Reverses results instead of operands, so that two reversals meet and vanish.
//
//   f(reverse(x), broadcast(m))            =>  reverse(f(x, broadcast(m)))
//   convolution(reverse(x), w, window)     =>  reverse(convolution(x, w, window')), whose window is reversed
//   dot, reduce, transpose, pad, slice ... =>  likewise; a reversed dimension that is summed is not reversed
//   reverse(reverse(x))                    =>  x
// A reversal along a cut dimension sends all of the array to other devices.
// Example: an image and its mirror image through the same network, columns over devices: conv(x) + flip(conv(flip(x))) sends
// halos alone.
#ifndef TOROID_PARTITIONER_PREPARE_LATE_REVERSALS_PASS_H_
#define TOROID_PARTITIONER_PREPARE_LATE_REVERSALS_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"
#include "partitioner/prepare/given_shardings.h"

namespace toroid {

class LateReversalsPass : public Pass {
 public:
  // A replacement of an instruction in `given`, if that is not null, takes its place in the set.
  explicit LateReversalsPass(GivenShardings* given = nullptr) : given_(given) {}
  absl::string_view name() const override { return "late_reversals"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  GivenShardings* given_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_LATE_REVERSALS_PASS_H_
