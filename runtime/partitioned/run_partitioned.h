// Runs a partitioned module on its simulated mesh as if it were the global one.
#pragma once

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/engine/executor.h"
#include "runtime/partitioned/shard_literal.h"

namespace toroid {

struct RunPartitionedOptions {
  RunOptions run;  // num_partitions and num_replicas are set to the module's.
  AssembleOptions assemble;
  // Global shape of the result; null: the shape that the shards make without padding.
  const Shape* result = nullptr;
  // If given: set to the seconds of the run alone, without cutting and assembling.
  double* seconds = nullptr;
};

// Cuts global arguments by the shardings the module records (spmd_record.h), runs the module on its devices
// and assembles the result. With several replicas each gets the arguments, and the result is the first
// replica's. With a transport the caller is rank 0, and the other ranks serve (ranks_run.h).
// Errors: those of PartitionsOf, CutLiteral, RunModule and AssembleLiteral.
absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const RunPartitionedOptions& options);

// The same, with a result of global shape `result`.
absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const Shape& result, const AssembleOptions& assemble = {});

}  // namespace toroid
