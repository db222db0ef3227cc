#include "simulator/compiler/lower.h"

#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/passes/merge_collectives_pass.h"
#include "hlo/passes/split_collectives_pass.h"
#include "simulator/compiler/fusion/fusion_pass.h"
#include "simulator/compiler/layout/layout_pass.h"
#include "simulator/compiler/memory/copy_insertion_pass.h"
#include "simulator/compiler/memory/early_uses_pass.h"
#include "simulator/compiler/memory/rematerialization_pass.h"
#include "simulator/compiler/rewrites/bfloat16_pass.h"
#include "simulator/compiler/rewrites/cumulative_sum_pass.h"
#include "simulator/compiler/rewrites/exchanged_convolution_pass.h"
#include "simulator/compiler/rewrites/flat_scatter_pass.h"
#include "simulator/compiler/rewrites/joined_dims_pass.h"
#include "simulator/compiler/rewrites/packed_predicates_pass.h"
#include "simulator/compiler/rewrites/row_scatter_pass.h"
#include "simulator/compiler/rewrites/shared_functions.h"
#include "simulator/compiler/rewrites/simplify_pass.h"
#include "simulator/compiler/rewrites/vector_product_pass.h"
#include "simulator/program/tiling.h"

namespace toroid {

namespace {

// It waits for the last operand.
constexpr MergeCollectivesPass::Options kCombined = {
    .most_bytes = kMergedAllReduceBytes, .most_delay = -1, .all_reduces_only = true, .put_off_last = false};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> Lower(const Module& module, const CoreSpec& core,
                                              const PassObserver& observer, Decisions* decisions) {
  RETURN_IF_ERROR(RulesOf(core).status());
  const CompilerScope scope(core, decisions);
  const Tiling tiling{core.vector().sublanes(), core.vector().lanes()};
  ASSIGN_OR_RETURN(std::unique_ptr<Module> lowered, InlineCallsApart(module));
  PassPipeline pipeline;
  pipeline.Add<SplitCollectivesPass>()
      .Add<CumulativeSumPass>(tiling.lanes)
      .Add<RowScatterPass>()
      .Add<FlatScatterPass>(tiling)
      .Add<VectorProductPass>(core.matrix().tile())
      .Add<ExchangedConvolutionPass>()
      .Add<SimplifyPass>(/*keeps_barriers=*/true, tiling)
      .Add<JoinedDimsPass>(tiling.lanes)
      .Add<SimplifyPass>(/*keeps_barriers=*/false, tiling)
      .Add<PackedPredicatesPass>(tiling.sublanes, core.matrix().tile())
      .Add<Bfloat16Pass>();
  if (IsOn(Rule::kMergedAllReduces)) pipeline.Add<MergeCollectivesPass>(kCombined);
  pipeline.Add<LayoutPass>(tiling).Add<CopyInsertionPass>(tiling).Add<FusionPass>(tiling).Add<EarlyUsesPass>(
      tiling);
  if (core.program_memory_share() > 0) {
    pipeline.Add<RematerializationPass>(
        static_cast<int64_t>(static_cast<double>(core.memory_bytes()) * core.program_memory_share()),
        core.least_repeated_bytes(), tiling);
  }
  const absl::StatusOr<std::vector<PassReport>> reports = pipeline.Run(&lowered, observer);
  if (!reports.ok()) return reports.status();
  return lowered;
}

}  // namespace toroid
