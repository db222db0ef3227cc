// Moves collectives out of loops.
//
// In front of the loop, what gives the same in every trip, with what it needs:
//   Before: body: w = f32[2,8] get-tuple-element(state), index=1, handed on as it is;  g = f32[8,8] all-gather(w), ...
//   After:  g' = f32[8,8] all-gather(w0), ... in front of the loop; body: g = f32[8,8] get-tuple-element(state), index=2
// Behind the loop, sums that are only added up:
//   Before: body: r = f32[8] all-reduce(x), to_apply=add;  next = f32[8] add(sum, r), and nothing else reads sum
//   After:  body: next = f32[8] add(sum, x), sum starting from zero; s = f32[8] add(sum0, all-reduce(sum)) behind the loop
// Reshapes, transposes, slices and negations may stand between the all-reduce and the addition.
//
// Gathered arrays are then held as long as the loop runs: of one loop, arrays that grow by at most `most_bytes`. A loop that may
// run no trip has its collectives once. Left alone are loops whose state is no tuple that the body writes out, that share their
// body, and loops over the parts of a product (windowed_einsum_pass.h).
// Source: XLA's while_loop_invariant_code_motion and while_loop_all_reduce_code_motion.
#ifndef TOROID_HLO_PASSES_LOOP_COLLECTIVES_PASS_H_
#define TOROID_HLO_PASSES_LOOP_COLLECTIVES_PASS_H_

#include <cstdint>
#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

// A sixteenth of the memory of a TPU v3 core.
inline constexpr int64_t kHeldThroughLoopBytes = int64_t{1} << 30;

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

#endif  // TOROID_HLO_PASSES_LOOP_COLLECTIVES_PASS_H_
