// BUILD: deps += "//runtime/kernels/linear_algebra"
#include "tests/partition_and_run.h"

#include "hlo/base/status.h"
#include "runtime/partitioned/run_partitioned.h"

namespace toroid {

absl::StatusOr<Literal> PartitionAndRun(const Module& module, const PartitionOptions& options,
                                        absl::Span<const Literal> arguments) {
  PartitionOptions checked = options;
  checked.observer.verify = true;
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(module, checked));
  AssembleOptions assemble;
  assemble.check_replicas = true;
  return RunPartitioned(*partitioned.module, arguments, module.entry()->root()->shape(), assemble);
}

}  // namespace toroid
