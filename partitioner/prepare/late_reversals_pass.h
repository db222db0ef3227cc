// Reverses results instead of operands, so that reversals meet and cancel.
//
//   f(reverse(x), broadcast(m))            =>  reverse(f(x, broadcast(m)))
//   convolution(reverse(x), w, window)     =>  reverse(convolution(x, w, window')), window' being reversed
//   dot, reduce, transpose, pad, slice ... =>  likewise; a summed dimension is no longer reversed
//   reverse(reverse(x))                    =>  x
//
// A reversal along a cut dimension sends the whole array to other devices.
// Example: conv(x) + flip(conv(flip(x))) runs an image and its mirror image through a network. With columns
// cut over devices, only halos are sent after the pass.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class LateReversalsPass : public Pass {
 public:
  absl::string_view name() const override { return "late_reversals"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
