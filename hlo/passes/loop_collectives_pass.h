// Moves collectives out of loops.
//
// A collective with the same result in every trip moves in front of the loop, with the instructions it needs:
//   Before: body: w = f32[2,8] get-tuple-element(state), index=1, handed on unchanged
//                 g = f32[8,8] all-gather(w), ...
//   After:  in front of the loop: g' = f32[8,8] all-gather(w0), ...
//           body: g = f32[8,8] get-tuple-element(state), index=2
// An all-reduce whose results are only added up moves behind the loop:
//   Before: body: r = f32[8] all-reduce(x), to_apply=add
//                 next = f32[8] add(sum, r), the only user of sum
//   After:  body: next = f32[8] add(sum, x), sum starting from zero
//           behind the loop: s = f32[8] add(sum0, all-reduce(sum))
// Reshapes, transposes, slices and negations may stand between the all-reduce and the addition.
//
// A gathered array is then held while the loop runs. Per loop, the moved collectives may add at most
// `most_bytes` (results minus operands). A moved collective runs once even if the loop makes no trip. Not
// changed: loops whose state is not a tuple written out by the body, loops that share their body, and loops
// over the parts of a product (windowed_einsum_pass.h).
// Source: XLA's while_loop_invariant_code_motion and while_loop_all_reduce_code_motion.
#pragma once

#include <cstdint>
#include <memory>

#include "hlo/cost/target.h"
#include "hlo/passes/pass.h"

namespace toroid {

// A sixteenth of the memory of the target: 1 GiB.
inline constexpr int64_t kHeldThroughLoopBytes = kTarget.memory_bytes / 16;

class LoopCollectivesPass : public Pass {
 public:
  LoopCollectivesPass() = default;
  explicit LoopCollectivesPass(int64_t most_bytes) : most_bytes_(most_bytes) {}

  absl::string_view name() const override { return "loop_collectives"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  int64_t most_bytes_ = kHeldThroughLoopBytes;
};

}  // namespace toroid
