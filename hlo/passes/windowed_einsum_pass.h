// Rewrites products of gathered or scattered arrays as loops over their parts (collective matmul).
//
// An all-gather whose only user is a product:
//   w = all-gather(p), dimensions={d}; y = dot(x, w)
// becomes a loop in which each device multiplies the part it holds and sends it on to its neighbour. The next
// part travels while this one is multiplied, and no device ever holds all of w. In trip t, device i of a
// group of g has part (i + t) mod g:
//   d is free in the product         y[part] = dot(x, p)
//   d is contracted                  y += dot(x[part], p)
//   d is a batch                     y[part] = dot(x[part], p)
//   p = collective-permute(p) from the next device
//
// A product whose only user is a reduce-scatter:
//   y = dot(x, w); z = reduce-scatter(y), dimensions={d}
// becomes a loop in which the sums travel: in trip t, device i adds its term of part (i - 1 - t) mod g and
// sends the sum on.
//   z = collective-permute(z + dot(x[part], w)) to the next device
//
// With `both_directions`, half of the parts come from each neighbour, so that both directions of a link are
// used: in trip t a device multiplies parts i + t and i - 1 - t; for a reduce-scatter, two partial sums of a
// part travel towards its device, one from each side. With `unroll`, a trip holds several steps, so that the
// part of one step need not be copied into the buffer of the next.
//
// Each loop sends as many bytes as its collective, in g - 1 messages. Sums of bf16 and f16 are kept in f32 as
// long as they stay on one device.
// Sources: GShard, arXiv:2006.16668, figure 4c; Wang et al., Overlap communication with dependent computation
// via decomposition (ASPLOS 23).
#pragma once

#include <cstdint>
#include <memory>

#include "hlo/cost/target.h"
#include "hlo/passes/pass.h"

namespace toroid {

struct WindowedEinsumOptions {
  // Least bytes per device of the gathered operand, or of the product before it is scattered. Smaller
  // products stay. The default is a quarter of the memory of the target: an array of this size may not fit beside its
  // own copy and the program's other arrays.
  int64_t least_bytes = kTarget.memory_bytes / 4;
  bool both_directions = false;
  int64_t unroll = 1;  // Steps in a trip, 1 or more; the remainder follows the loop.
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
