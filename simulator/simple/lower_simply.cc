#include "simulator/simple/lower_simply.h"

#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/passes/inline_calls_pass.h"
#include "hlo/passes/pass.h"
#include "hlo/passes/split_collectives_pass.h"
#include "simulator/compiler/fusion/fusion_pass.h"
#include "simulator/compiler/rewrites/simplify_pass.h"
#include "simulator/memory/memory_order_pass.h"
#include "simulator/program/tiling.h"
#include "simulator/simple/plain_groups.h"

namespace toroid {

absl::StatusOr<std::unique_ptr<Module>> LowerSimply(const Module& module, const CoreSpec& core) {
  const Tiling tiling{core.vector().sublanes(), core.vector().lanes()};
  ASSIGN_OR_RETURN(std::unique_ptr<Module> lowered, InlineCalls(module));
  PassPipeline pipeline;
  pipeline.Add<SplitCollectivesPass>()
      .Add<SimplifyPass>(/*keeps_barriers=*/false, tiling)
      .Add<FusionPass>(tiling, PlainGroups)
      .Add<MemoryOrderPass>(tiling);
  const absl::StatusOr<std::vector<PassReport>> reports = pipeline.Run(&lowered);
  if (!reports.ok()) return reports.status();
  return lowered;
}

}  // namespace toroid
