// Writes the record that tells callers of a partitioned program how to cut arguments and put results
// together.
#pragma once

#include "hlo/ir/module.h"
#include "partitioner/prepare/prepared_program.h"

namespace toroid {

// Writes the shardings of parameters and outputs (hlo/devices/spmd_record.h), the number of partitions, the local
// program's shapes, and the aliases of the global module whose result and argument still have compatible
// local shapes. Also copies the stack frames, buffer donors and frontend attributes of the global module,
// except attributes of Shardy, which do not apply to the local program.
void RecordPartitioning(const PreparedProgram& program, const ShardingPlan& plan, Module* local);

}  // namespace toroid
