// Merges two consecutive ops that move or select elements into one.
//
//   slice(slice(x))                        => slice(x)
//   slice(pad(x, v))                       => pad(x, v) by less, or slice(x); if the slice is the pad's only
//   user
//   slice(concatenate(x, y))               => slice(x), if x holds the whole slice
//   slice(broadcast(x))                    => broadcast(x), if no dimension of x is cut
//   pad(pad(x, v), v)                      => pad(x, v), if the outer pad removes at most what the inner one
//   added
//   reshape(reshape(x)), transpose(transpose(x)), broadcast(broadcast(x)) => one
//   select(m, select(m, a, b), c)          => select(m, a, c), and likewise on the other side
//   select(m, a, a), and(m, m), or(m, m)   => the common operand
// An op that then changes nothing is removed. Typical inputs are halo exchanges sliced from a padded array
// and tiles that are padded and masked twice. Ops with a layout of their own or with dynamic dimensions stay.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "hlo/passes/pass.h"

namespace toroid {

class MergeMovementPass : public Pass {
 public:
  struct Options {
    // Instructions that are not merged, neither with their operands nor with their users; empty: only the
    // exceptions above.
    std::function<bool(const Instruction&)> stays;
    // Only slices of pads; the result keeps the slice's sharding.
    bool shifts_alone = false;
  };

  MergeMovementPass() = default;
  explicit MergeMovementPass(Options options) : options_(std::move(options)) {}

  absl::string_view name() const override { return "merge_movement"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  Options options_;
};

}  // namespace toroid
