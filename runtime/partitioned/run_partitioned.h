// Runs a partitioned module on its simulated mesh as if it were the global one.
#ifndef TOROID_RUNTIME_PARTITIONED_RUN_PARTITIONED_H_
#define TOROID_RUNTIME_PARTITIONED_RUN_PARTITIONED_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/engine/executor.h"
#include "runtime/partitioned/shard_literal.h"

namespace toroid {

struct RunPartitionedOptions {
  RunOptions run;  // Its num_partitions and num_replicas are those of the module.
  AssembleOptions assemble;
  // Global shape of the result; null: what the shards make without padding.
  const Shape* result = nullptr;
  // If given: seconds of the run alone, without cutting and assembling.
  double* seconds = nullptr;
};

// Cuts global arguments by the shardings the module records (spmd_record.h), runs it on its devices and puts
// the result together. Of several replicas each gets the arguments, and the result is that of the first. With a transport this is rank 0, and the others serve (ranks_run.h).
// Errors: those of PartitionsOf, CutLiteral, RunModule and AssembleLiteral.
absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const RunPartitionedOptions& options);

// The same with a result of this global shape.
absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const Shape& result, const AssembleOptions& assemble = {});

}  // namespace toroid

#endif  // TOROID_RUNTIME_PARTITIONED_RUN_PARTITIONED_H_
