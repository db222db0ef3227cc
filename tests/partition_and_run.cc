#include "tests/partition_and_run.h"

#include "hlo/base/status.h"
#include "hlo/ir/hlo_sharding.h"
#include "hlo/ops/verify_module.h"
#include "runtime/executor.h"
#include "runtime/shard_literal.h"

namespace toroid {

absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const Shape& result) {
  const int64_t n = partitioned.config().num_partitions;
  std::vector<MeshValue> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                     HloSharding::LeavesFromProto(
                         partitioned.proto().spmd_parameters_shardings(static_cast<int>(i)), arguments[i].shape()));
    ASSIGN_OR_RETURN(MeshValue value, CutLiteral(arguments[i], shardings, n));
    values.push_back(std::move(value));
  }
  ASSIGN_OR_RETURN(const MeshValue output, RunOnMesh(partitioned, std::move(values), n));
  ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings,
                   HloSharding::LeavesFromProto(partitioned.proto().spmd_output_sharding(), result));
  AssembleOptions options;
  options.check_replicas = true;
  return AssembleLiteral(output, result, shardings, options);
}

absl::StatusOr<Literal> PartitionAndRun(const Module& module, const PartitionOptions& options,
                                        absl::Span<const Literal> arguments) {
  PartitionOptions checked = options;
  checked.after_phase = [](absl::string_view phase, const Module& after) {
    return Annotate(VerifyModule(after), absl::StrCat("after ", phase));
  };
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(module, checked));
  return RunPartitioned(*partitioned.module, arguments, module.entry()->root()->shape());
}

}  // namespace toroid
