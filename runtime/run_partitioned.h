// Runs a partitioned module on its simulated mesh as if it were the global one.
#ifndef TOROID_RUNTIME_RUN_PARTITIONED_H_
#define TOROID_RUNTIME_RUN_PARTITIONED_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "runtime/shard_literal.h"

namespace toroid {

// Cuts global arguments by the shardings the module records, runs it on config().num_partitions devices and puts the
// result, of global shape `result`, together.
// Errors: those of CutLiteral, RunOnMesh and AssembleLiteral.
absl::StatusOr<Literal> RunPartitioned(const Module& partitioned, absl::Span<const Literal> arguments,
                                       const Shape& result, const AssembleOptions& options = {});

}  // namespace toroid

#endif  // TOROID_RUNTIME_RUN_PARTITIONED_H_
