// Keeps the dynamic dimensions that a set-dimension-size does not set.
//
// Before: a = f32[<=4,8] set-dimension-size(x, n), dimensions={0}
//         b = f32[4,<=8] set-dimension-size(a, m), dimensions={1}     declares dimension 0 static again
// After:  b = f32[<=4,<=8] set-dimension-size(a, m), dimensions={1}
// The op sets the size of one dimension. Compilers keep the run-time sizes of the other dimensions even if
// the declared shape is static there; the pass corrects the declared shape, and the shapes computed from it.
// A dimension becomes static again only if its own size is set to the bound.
#pragma once

#include <memory>

#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

// True if some set-dimension-size declares a dynamic dimension of its operand static.
bool DropsRunTimeSizes(const Module& module);

// Makes those dimensions dynamic again, in all computations. Changes nothing if the result would not verify
// or a control-flow op takes one of the changed values. Returns whether anything changed.
bool KeepRunTimeSizes(Module* module);

class RunTimeSizesPass : public Pass {
 public:
  absl::string_view name() const override { return "run_time_sizes"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override {
    return KeepRunTimeSizes(module->get());
  }
};

}  // namespace toroid
