// Merges collectives of one kind over the same devices into one collective of several arrays, which starts
// once for all of them.
//
// Before: a = f32[8] all-reduce(x), to_apply=add, ...
//         b = f32[2] all-reduce(y), to_apply=add, ...
// After:  all = (f32[8], f32[2]) all-reduce(x, y), to_apply=add, ...
//         a = f32[8] get-tuple-element(all), index=0
//         b = f32[2] get-tuple-element(all), index=1
//
// The pass merges all-reduces, all-gathers, reduce-scatters and permutes that agree in groups or pairs,
// dimension, reducer and element type, and none of which depends on another. (An all-to-all has one operand,
// or one for each member, so it cannot be merged.) The bytes sent stay the same.
//
// Order: the pass walks the program and delays every such collective until no other instruction can run. Then
// it runs all delayed collectives of one kind at once, first the kind on the longest path. A merged
// collective therefore never depends on itself. A collective joins others only if the longest path through
// the program, by the bytes and flops of its instructions, grows by no more than `most_delay`, and if the
// arrays (the gathered ones of an all-gather) together have at most `most_bytes`. The get-tuple-element of
// each array keeps the cause and the metadata of its collective.
// Source: XLA's all_reduce_combiner and its siblings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "hlo/passes/pass.h"

namespace toroid {

// Limit for one merged collective other than an all-reduce, which is XLA's default. Arrays of a merged
// collective are held in memory until its last operand is there.
inline constexpr int64_t kMergedCollectiveBytes = int64_t{30} << 20;
// Limit for all-reduces, whose results are no larger than their operands. In training steps combined by
// Google's compiler for TPU v3, the arrays of an all-reduce add up to 120 MiB wherever their sizes allow, and
// never to more. That compiler does not change collectives that are merged already.
inline constexpr int64_t kMergedAllReduceBytes = int64_t{120} << 20;

class MergeCollectivesPass : public Pass {
 public:
  struct Options {
    std::optional<int64_t> most_bytes;  // Null: the sizes above.
    double most_delay = 0.02;           // As a share of the longest path; negative: no limit.
    bool all_reduces_only = false;
    // Delays the collectives on which no other of their kind depends until only those are left, so that all
    // of them can be merged into one.
    bool put_off_last = true;
  };

  MergeCollectivesPass() = default;
  explicit MergeCollectivesPass(int64_t most_bytes) { options_.most_bytes = most_bytes; }
  explicit MergeCollectivesPass(const Options& options) : options_(options) {}

  absl::string_view name() const override { return "merge_collectives"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;

 private:
  Options options_;
};

}  // namespace toroid
