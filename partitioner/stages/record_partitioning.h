// The record that tells callers of a partitioned program how to cut arguments and put results together.
#ifndef TOROID_PARTITIONER_STAGES_RECORD_PARTITIONING_H_
#define TOROID_PARTITIONER_STAGES_RECORD_PARTITIONING_H_

#include "hlo/ir/module.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// Writes the shardings of parameters and outputs (hlo/ir/spmd_record.h), the number of partitions, the local program's
// shapes, and which results share the memory of arguments: those whose local shapes are still alike. What the global
// module says beside that is kept, but for attributes of Shardy, which mean nothing any more.
void RecordPartitioning(const PreparedProgram& program, const ShardingPlan& plan, Module* local);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_STAGES_RECORD_PARTITIONING_H_
