// Turns cumulative sums into trees.
//
// A reduce-window whose result at i folds all n elements up to i takes n^2 / 2 steps. In blocks of `lanes` elements:
//   blocks = reshape(x)                        [.., n, ..] -> [.., n / lanes, lanes, ..]
//   within = reduce-window(blocks)             folds up to i inside of the block
//   totals = slice(within), the last of each   [.., n / lanes, 1, ..]
//   before = reduce-window(totals)             folds of all blocks before: exclusive, itself a tree if long
//   y      = reshape(op(within, before))
// Dimensions that lanes do not divide are padded with the neutral element. Exclusive sums (of all elements before i) are made
// likewise; some programs write them as n + 1 inclusive ones, of which the last, or first, is cut off.
// Example: f32[2048,512] along dimension 0: f32[16,128,512], totals f32[16,512].
// Source: XLA's reduce_window_rewriter.
#pragma once

#include <cstdint>
#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class CumulativeSumPass : public Pass {
 public:
  explicit CumulativeSumPass(int64_t lanes) : lanes_(lanes) {}
  absl::string_view name() const override { return "cumulative_sum"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  const int64_t lanes_;
};

}  // namespace toroid
