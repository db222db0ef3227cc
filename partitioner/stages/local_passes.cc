#include "partitioner/stages/local_passes.h"

#include <memory>

#include "hlo/passes/async_collectives_pass.h"
#include "hlo/passes/dce_pass.h"
#include "hlo/passes/duplicates_pass.h"
#include "hlo/passes/loop_collectives_pass.h"
#include "hlo/passes/merge_collectives_pass.h"
#include "hlo/passes/merge_movement_pass.h"
#include "hlo/passes/product_order_pass.h"
#include "hlo/passes/reduce_scatter_pass.h"
#include "hlo/passes/unit_dimensions_pass.h"
#include "hlo/passes/windowed_einsum_pass.h"
#include "partitioner/provenance/causes_pass.h"

namespace toroid {
namespace {

constexpr int64_t kUnset = -1;
constexpr PassOption kEinsumOptions[] = {
    {"bytes", WindowedEinsumOptions().least_bytes}, {"directions", 1, 1, 2}, {"unroll", 1, 1, 64}};
constexpr PassOption kLoopOptions[] = {{"bytes", kHeldThroughLoopBytes}};
constexpr PassOption kMergeOptions[] = {{"bytes", kUnset}};

std::unique_ptr<Pass> MakeWindowedEinsum(absl::Span<const int64_t> numbers) {
  return std::make_unique<WindowedEinsumPass>(WindowedEinsumOptions{
      .least_bytes = numbers[0], .both_directions = numbers[1] == 2, .unroll = numbers[2]});
}

std::unique_ptr<Pass> MakeMergeCollectives(absl::Span<const int64_t> numbers) {
  if (numbers[0] == kUnset) return std::make_unique<MergeCollectivesPass>();
  return std::make_unique<MergeCollectivesPass>(numbers[0]);
}

}  // namespace

absl::Span<const NamedPass> LocalPasses() {
  static constexpr NamedPass kPasses[] = {
      // Writes products of gathered or scattered arrays as loops over their parts.
      {"windowed_einsum", MakeWindowedEinsum, kEinsumOptions},
      // Removes dead instructions, collectives too.
      {"dead_code", MakePass<DcePass>},
      // Merges instructions that compute the same value.
      {"duplicates", MakePass<DuplicatesPass>},
      // Moves collectives out of loops. bytes: the most bytes of results that are then held during a loop.
      {"loop_collectives", MakePassWith<LoopCollectivesPass>, kLoopOptions},
      // Turns an all-reduce of whose result each device reads only its own part into a reduce-scatter.
      {"reduce_scatter", MakePass<ReduceScatterPass>},
      // Removes dimensions of one element from arrays.
      {"unit_dimensions", MakePass<UnitDimensionsPass>},
      // Merges two ops that move or select elements, one after the other, into one op.
      {"merge_movement", MakePass<MergeMovementPass>},
      // Merges collectives of one kind. bytes: the most bytes of a merged collective.
      {"merge_collectives", MakeMergeCollectives, kMergeOptions},
      // Splits reduce-scatters and collective-permutes of several arrays, which StableHLO does not have.
      // Swaps the operands of dots whose results are transposed.
      {"product_order", MakePass<ProductOrderPass>},
      // Writes the causes of collectives as attributes. Collectives cannot be merged after it.
      {"causes", MakePass<CausesPass>},
      // Splits collectives into a start and a done.
      {"async_collectives", MakePass<AsyncCollectivesPass>},
  };
  return kPasses;
}

}  // namespace toroid
