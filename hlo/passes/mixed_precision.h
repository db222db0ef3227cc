// Rewrites ops of mixed precision with explicit converts.
//
// Compilers let the float types of an op's operands and of its result differ. An op of this kind computes in the
// common type of its operands (CommonFloat of hlo/ops/constraint.h), a reduction in the type of its
// computation, and rounds the result to its declared type.
// Before: c = bf16[2] copy(f32[2] a)           After: t = f32[2] copy(a)
//         d = f32[2] add(bf16[2] c, f32[2] a)         c = bf16[2] convert(t)
//                                                     u = f32[2] convert(c)
//                                                     d = f32[2] add(u, a)
// The operands of all-reduce and reduce-scatter keep their type, in which they are sent; the reducer is
// rewritten for it.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace toroid {

// A copy of the verified `module` in which no op mixes floats; null if none does.
absl::StatusOr<std::unique_ptr<Module>> SeparatePrecisions(const Module& module);

class MixedPrecisionPass : public RebuildingPass {
 public:
  absl::string_view name() const override { return "mixed_precision"; }
  absl::StatusOr<std::unique_ptr<Module>> Rebuild(const Module& source) override {
    return SeparatePrecisions(source);
  }
};

}  // namespace toroid
