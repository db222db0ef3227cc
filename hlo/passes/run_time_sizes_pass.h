// Run-time sizes that a set-dimension-size does not speak of stay.
//
// Before: a = f32[<=4,8] set-dimension-size(x, n), dimensions={0}
//         b = f32[4,<=8] set-dimension-size(a, m), dimensions={1}     declares dimension 0 static again
// After:  b = f32[<=4,<=8] set-dimension-size(a, m), dimensions={1}
// The op sets one dimension; compilers keep the sizes of the others whatever the declared shape says, and so the
// shapes of what is computed from it follow. A dimension becomes static again by setting its own size to the bound.
#ifndef TOROID_HLO_PASSES_RUN_TIME_SIZES_PASS_H_
#define TOROID_HLO_PASSES_RUN_TIME_SIZES_PASS_H_

#include <memory>

#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

// True if some set-dimension-size declares a dynamic dimension of its operand static.
bool DropsRunTimeSizes(const Module& module);

// Puts the sizes back, in every computation of its own. Returns whether anything changed.
bool KeepRunTimeSizes(Module* module);

class RunTimeSizesPass : public Pass {
 public:
  absl::string_view name() const override { return "run_time_sizes"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override {
    return KeepRunTimeSizes(module->get());
  }
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_RUN_TIME_SIZES_PASS_H_
