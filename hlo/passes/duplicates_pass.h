// Common subexpression elimination, collectives included, in all computations.
//
// Before: m = pred[8] compare(i, n), direction=LT      After: m = pred[8] compare(i, n), direction=LT
//         a = f32[8] select(m, x, z)                          a = f32[8] select(m, x, z)
//         k = pred[8] compare(i, n), direction=LT             ROOT t = tuple(a, a)
//         b = f32[8] select(k, x, z)
//         ROOT t = tuple(a, b)
//
// One walk in program order gives each instruction a number: that of the first instruction with equal
// attributes whose operands have equal numbers (hlo/analysis/alike.h). Users read that first instruction, and
// the duplicate is removed; dead code elimination removes the operands that only the duplicate used. Never
// merged: instructions with side effects, tokens, asynchronous pairs, buffers, and opt-barriers, since values
// behind a barrier are computed again on purpose.
//
// A large result of data movement or of an elementwise op is cheap to compute again and dear to keep in
// memory. It is merged only with an instruction that was used shortly before, so that values of the forward
// pass of a training step are not kept for the backward pass. Values computed from it are merged
// nevertheless.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "hlo/passes/pass.h"

namespace toroid {

class DuplicatesPass : public Pass {
 public:
  struct Options {
    // Instructions that are not merged; empty: only the exceptions above.
    std::function<bool(const Instruction&)> stays;
    // Never merges data movement, elementwise ops and ops without operands, only the ops that use them.
    bool leave_cheap = false;
  };

  DuplicatesPass() = default;
  explicit DuplicatesPass(Options options) : options_(std::move(options)) {}

  absl::string_view name() const override { return "duplicates"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  Options options_;
};

}  // namespace toroid
