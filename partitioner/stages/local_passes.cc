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
      // Drops what nothing needs, collectives too.
      {"dead_code", MakePass<DcePass>, nullptr, kChangesWhatIsSent},
      // Merges instructions that compute the same.
      {"duplicates", MakePass<DuplicatesPass>, nullptr, kChangesWhatIsSent},
      // Moves collectives out of loops; arrays of at most so many bytes are held meanwhile.
      {"loop_collectives", MakePass<LoopCollectivesPass>, MakePassWith<LoopCollectivesPass>,
       kChangesWhatIsSent},
      // Turns all-reduces of which every device reads its own part into reduce-scatters.
      {"reduce_scatter", MakePass<ReduceScatterPass>, nullptr, kChangesWhatIsSent},
      // Carries arrays without their dimensions of one element.
      {"unit_dimensions", MakePass<UnitDimensionsPass>},
      // Makes one op of two that move or choose elements one after the other.
      {"merge_movement", MakePass<MergeMovementPass>},
      // Puts collectives of one kind into one, of at most so many bytes.
      {"merge_collectives", MakePass<MergeCollectivesPass>, MakePassWith<MergeCollectivesPass>},
      // Exchanges the sides of products that are transposed back.
      {"product_order", MakePass<ProductOrderPass>, nullptr, kChangesWhatIsSent},
      // Writes why collectives are there; behind it they cannot be merged.
      {"causes", MakePass<CausesPass>},
      // Cuts collectives into a start and a done.
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
