// Puts collectives of one kind over the same devices into one of several arrays, which starts once for all of them.
//
// Before: a = f32[8] all-reduce(x), to_apply=add, ...    After: all = (f32[8], f32[2]) all-reduce(x, y), to_apply=add, ...
//         b = f32[2] all-reduce(y), to_apply=add, ...           a = f32[8] get-tuple-element(all), index=0
//                                                               b = f32[2] get-tuple-element(all), index=1
//
// Merged are all-reduces, all-gathers, reduce-scatters and permutes (an all-to-all takes one array, or one per member) that
// agree in groups or pairs, dimension, reducer and element type, none of which waits for another. Bytes stay the same.
//
// Who waits for whom: the program is walked as if every such collective were put off until nothing else can be done, and
// then all of the kind whose results are most urgent were done at once. So what is merged never waits for itself. A
// collective joins others only if the longest way through the program, by bytes and flops of its instructions, stays
// within `most_delay` of what it was, and as long as the arrays (of an all-gather the gathered ones) together have at
// most `most_bytes`. Each array's own cause and metadata stand on its get-tuple-element.
// Source: XLA's all_reduce_combiner and its siblings.
#ifndef TOROID_HLO_PASSES_MERGE_COLLECTIVES_PASS_H_
#define TOROID_HLO_PASSES_MERGE_COLLECTIVES_PASS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "hlo/passes/pass.h"

namespace toroid {

// Of one merged collective. What starts later than its first array holds memory for the others: what XLA combines by default.
inline constexpr int64_t kMergedCollectiveBytes = int64_t{30} << 20;
// Of all-reduces, whose results take no more than their operands. In training steps that Google's compiler for TPU v3 combined, sums
// of sizes come to 120 MiB wherever the arrays allow, and never to more; what is merged into less it leaves so.
inline constexpr int64_t kMergedAllReduceBytes = int64_t{120} << 20;

class MergeCollectivesPass : public Pass {
 public:
  struct Options {
    std::optional<int64_t> most_bytes;  // Null: the sizes above.
    double most_delay = 0.02;           // As a share of the longest way; negative: whatever it costs.
    bool all_reduces_only = false;
    // Those that no other of their kind waits for are put off until nothing but they is left, so that they all are one.
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

#endif  // TOROID_HLO_PASSES_MERGE_COLLECTIVES_PASS_H_
