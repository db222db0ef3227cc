#include "partitioner/stages/emit_plan.h"

#include <utility>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/base/stopwatch.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/pass.h"
#include "partitioner/rewrite/program_rewriter.h"
#include "partitioner/stages/local_passes.h"
#include "partitioner/stages/record_partitioning.h"

namespace toroid {
namespace {

// A copy of the prepared module with the sharding of every array on its instruction, for dumps.
std::unique_ptr<Module> WithShardings(const PreparedProgram& program, const ShardingPlan& shardings) {
  std::unique_ptr<Module> shown = CloneModule(*program.flat);
  for (const auto& computation : program.flat->computations()) {
    for (const auto& instruction : computation->instructions()) {
      const auto leaves = program.graph->Leaves(*instruction);
      if (leaves.size() != 1 || !instruction->shape().IsArray()) continue;
      auto* sharding = shown->New<xla::OpSharding>();
      program.annotations.mesh.ToHlo(shardings[leaves[0]]).ToProto(sharding);
      shown->computations()[computation->index()]->instruction(instruction->index())->set_sharding(sharding);
    }
  }
  return shown;
}

}  // namespace

absl::StatusOr<Partitioned> EmitPlan(const PreparedProgram& program, const Plan& plan,
                                     const PartitionOptions& options) {
  if (options.observer.see) {
    RETURN_IF_ERROR(options.observer.After("propagate", *WithShardings(program, plan.shardings)));
  }
  const Stopwatch middle;
  Partitioned result;
  ASSIGN_OR_RETURN(RewrittenProgram rewritten, RewriteProgram(program, plan, options.on_local_value));
  result.module = std::move(rewritten.module);
  RecordPartitioning(program, plan.shardings, result.module.get());
  result.num_partitions = program.annotations.mesh.num_devices();
  result.cuts = std::move(rewritten.cuts);
  result.full_replications = std::move(rewritten.full_replications);
  result.made_up_axes = std::move(rewritten.made_up_axes);
  result.partition_seconds = middle.Seconds();
  RETURN_IF_ERROR(options.observer.After("partition", *result.module));

  const Stopwatch end;
  ASSIGN_OR_RETURN(PassPipeline passes, MakePipeline(options.passes, LocalPasses()));
  ASSIGN_OR_RETURN(const std::vector<PassReport> reports, passes.Run(&result.module, options.observer));
  result.passes = program.passes;
  result.passes.insert(result.passes.end(), reports.begin(), reports.end());
  result.optimize_seconds = end.Seconds();
  return result;
}

}  // namespace toroid
