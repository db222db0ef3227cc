#include "partitioner/stages/local_passes.h"

#include "hlo/passes/async_collectives_pass.h"
#include "hlo/passes/dce_pass.h"
#include "hlo/passes/duplicates_pass.h"
#include "hlo/passes/loop_collectives_pass.h"
#include "hlo/passes/merge_collectives_pass.h"
#include "hlo/passes/merge_movement_pass.h"
#include "hlo/passes/product_order_pass.h"
#include "hlo/passes/reduce_scatter_pass.h"
#include "hlo/passes/unit_dimensions_pass.h"
#include "partitioner/prepare/partition_options.h"
#include "partitioner/provenance/causes_pass.h"

namespace toroid {

absl::Span<const NamedPass> LocalPasses() {
  constexpr bool kChangesWhatIsSent = true;
  static constexpr NamedPass kPasses[] = {
      // Removes dead instructions, collectives too.
      {"dead_code", MakePass<DcePass>, nullptr, kChangesWhatIsSent},
      // Merges instructions that compute the same value.
      {"duplicates", MakePass<DuplicatesPass>, nullptr, kChangesWhatIsSent},
      // Moves collectives out of loops. Number: the most bytes of results that are then held during a loop.
      {"loop_collectives", MakePass<LoopCollectivesPass>, MakePassWith<LoopCollectivesPass>,
       kChangesWhatIsSent},
      // Turns an all-reduce of whose result each device reads only its own part into a reduce-scatter.
      {"reduce_scatter", MakePass<ReduceScatterPass>, nullptr, kChangesWhatIsSent},
      // Removes dimensions of one element from arrays.
      {"unit_dimensions", MakePass<UnitDimensionsPass>},
      // Merges two ops that move or select elements, one after the other, into one op.
      {"merge_movement", MakePass<MergeMovementPass>},
      // Merges collectives of one kind. Number: the most bytes of a merged collective.
      {"merge_collectives", MakePass<MergeCollectivesPass>, MakePassWith<MergeCollectivesPass>},
      // Swaps the operands of dots whose results are transposed.
      {"product_order", MakePass<ProductOrderPass>, nullptr, kChangesWhatIsSent},
      // Writes the causes of collectives as attributes. Collectives cannot be merged after it.
      {"causes", MakePass<CausesPass>},
      // Splits collectives into a start and a done.
      {"async_collectives", MakePass<AsyncCollectivesPass>},
  };
  return kPasses;
}

std::vector<std::string> DefaultPassesThatChangeWhatIsSent() {
  std::vector<std::string> passes;
  for (const std::string& name : DefaultPasses()) {
    for (const NamedPass& pass : LocalPasses()) {
      if (pass.name == name && pass.changes_what_is_sent) passes.push_back(name);
    }
  }
  return passes;
}

}  // namespace toroid
