// Splits collectives into a start and a done, between which other instructions can run.
//
// Before: g = f32[8] all-gather(x), ...      After: s = (f32[2], f32[8]) all-gather-start(x), ...
//         y = f32[4] sine(z)                        y = f32[4] sine(z)
//         r = f32[8] negate(g)                      g = f32[8] all-gather-done(s)
//                                                   r = f32[8] negate(g)
// All-reduces, all-gathers and permutes have such pairs. The pass moves a done down, at most to just before
// its first user, and a start up, at most to just after its operands. It stops as soon as the work in between
// costs as much as the collective (rough_costs.h), since a collective in flight holds memory. The order of
// all other instructions stays.
//
// Opt-in: a TPU v3 overlaps nothing (measured: docs/machine_model.md). The pass runs after the merging
// passes, which do not know pairs.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class AsyncCollectivesPass : public Pass {
 public:
  absl::string_view name() const override { return "async_collectives"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
