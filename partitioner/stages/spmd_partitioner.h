// Partitioning: a global program with shardings becomes the program of one partition.
//
// Phases: passes prepare the program (they inline calls), annotations of either dialect are read, shardings
// are propagated to every tensor, every op is rewritten for one partition, and passes run over the resulting
// program (local_passes.h). `--dump_dir` writes the program after each of them.
//
// Rewriting is generic over sharding rules. For each op the cheapest assignment of axes to factors is chosen.
// Its operands are resharded for it by the cheapest plans from the shardings they already have (a value is
// kept in every sharding it was once resharded to). The result keeps the sharding it was computed in, partial
// sums included, until a consumer needs another. An op that is linear in a partial operand passes it on if
// that costs no more. For programs that are not too large, a search then looks for decisions of many ops
// together that send less (../search).
#pragma once

#include "absl/status/statusor.h"
#include "partitioner/prepare/partition_options.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// Returns the program of one partition.
// Errors: kInvalidArgument "computation/instruction: ..." for contradictory shardings; kUnimplemented for
// manual regions under a device order.
absl::StatusOr<Partitioned> PartitionModule(const Module& module, const PartitionOptions& options);

}  // namespace toroid
