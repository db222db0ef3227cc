// Cuts collectives into a start and a done, between which other work can go on.
//
// Before: g = f32[8] all-gather(x), ...      After: s = (f32[2], f32[8]) all-gather-start(x), ...
//         y = f32[4] sine(z)                        y = f32[4] sine(z)
//         r = f32[8] negate(g)                      g = f32[8] all-gather-done(s)
//                                                   r = f32[8] negate(g)
// All-reduces, all-gathers and permutes have such pairs. A done goes down to just before its first user, a start up to just behind
// its operands, but neither further than it takes for the work in between to cost what the collective does (rough_costs.h): what is
// under way holds memory. Nothing that the program computes changes, nor does the order of anything else.
//
// Opt-in: what a TPU v3 was measured to overlap is nothing (docs/machine_model.md), and merging passes know ops that are
// whole; so this one runs behind them.
#ifndef TOROID_HLO_PASSES_ASYNC_COLLECTIVES_PASS_H_
#define TOROID_HLO_PASSES_ASYNC_COLLECTIVES_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class AsyncCollectivesPass : public Pass {
 public:
  absl::string_view name() const override { return "async_collectives"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_ASYNC_COLLECTIVES_PASS_H_
