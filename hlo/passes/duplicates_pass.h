// Merges instructions that compute the same from the same operands, collectives too, in all computations.
//
// Before: m = pred[8] compare(i, n), direction=LT      After: m = pred[8] compare(i, n), direction=LT
//         a = f32[8] select(m, x, z)                          a = f32[8] select(m, x, z)
//         k = pred[8] compare(i, n), direction=LT             ROOT t = tuple(a, a)
//         b = f32[8] select(k, x, z)
//         ROOT t = tuple(a, b)
//
// What is replaced goes; what it alone needed is left to dead code elimination. One walk in order: an instruction is numbered as the first one like it whose operands have equal numbers
// (hlo/analysis/alike.h), and its users read that one. Left alone are side effects, opaque barriers (what stands behind
// one is computed anew on purpose), tokens, asynchronous pairs and buffers.
//
// A large value that is moved or computed element by element costs little to make and much to keep: it is merged only with
// one that was used shortly before, so that what the forward half of a training step makes is not held for the backward half.
// What is computed from such values is merged all the same.
#ifndef TOROID_HLO_PASSES_DUPLICATES_PASS_H_
#define TOROID_HLO_PASSES_DUPLICATES_PASS_H_

#include <functional>
#include <memory>
#include <utility>

#include "hlo/passes/pass.h"

namespace toroid {

class DuplicatesPass : public Pass {
 public:
  struct Options {
    // Instructions that stay although others are like them; empty: none more than said above.
    std::function<bool(const Instruction&)> stays;
    // Nothing that is moved, computed element by element, or made of nothing is merged, only what is computed from it.
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

#endif  // TOROID_HLO_PASSES_DUPLICATES_PASS_H_
