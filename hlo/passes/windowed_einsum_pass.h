// Products of gathered or scattered arrays as loops over their parts.
//
// An all-gather that one product reads:
//   w = all-gather(p), dimensions={d}; y = dot(x, w)
// becomes a loop in which each device multiplies the part that it holds and hands it on to its neighbour, so that the next part travels
// while this one is multiplied, and no device ever holds all of w. Device i of a group of g, trip t, has part (i + t) mod g:
//   d is free in the product         y[part] = dot(x, p)
//   d is contracted                  y += dot(x[part], p)
//   d is a batch                     y[part] = dot(x[part], p)
//   p = collective-permute(p) from the next device
//
// A product that one reduce-scatter reads:
//   y = dot(x, w); z = reduce-scatter(y), dimensions={d}
// becomes one in which the sums travel: in trip t, device i adds its term of part (i - 1 - t) mod g and hands the sum on.
//   z = collective-permute(z + dot(x[part], w)) to the next device
//
// In both directions (WindowedEinsumOptions) half of the parts come from each neighbour, so that both ways of a link are used: in
// trip t a device multiplies parts i + t and i - 1 - t; or two sums of a part travel towards it, one from each side. With `unroll`
// a trip holds so many steps, so that the parts of one need not be copied into the place of the next.
//
// All send what the collective sends, in g - 1 messages. Sums of bf16 and f16 are kept in f32 while they stay on a device.
// Source: GShard, arXiv:2006.16668, figure 4c; Wang et al., Overlap communication with dependent computation via decomposition (ASPLOS 23).
#ifndef TOROID_HLO_PASSES_WINDOWED_EINSUM_PASS_H_
#define TOROID_HLO_PASSES_WINDOWED_EINSUM_PASS_H_

#include <cstdint>
#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

// Frontend attribute of these loops: what they send counts by their trips, where loops of a program's author count once.
inline constexpr char kLoopOverParts[] = "toroid.loop_over_parts";

struct WindowedEinsumOptions {
  // Products whose gathered operand, or result before it is scattered, has as many bytes on a device are changed.
  int64_t least_bytes = 0;
  bool both_directions = false;
  int64_t unroll = 1;  // Steps in a trip, 1 or more; those that are left come behind the loop.
};

class WindowedEinsumPass : public Pass {
 public:
  explicit WindowedEinsumPass(const WindowedEinsumOptions& options) : options_(options) {}
  absl::string_view name() const override { return "windowed_einsum"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const WindowedEinsumOptions options_;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_WINDOWED_EINSUM_PASS_H_
