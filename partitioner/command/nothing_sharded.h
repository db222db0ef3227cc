// A module in which nothing is sharded, and how its reader may begin.
#ifndef TOROID_PARTITIONER_COMMAND_NOTHING_SHARDED_H_
#define TOROID_PARTITIONER_COMMAND_NOTHING_SHARDED_H_

#include <cstdint>
#include <string>

#include "hlo/ir/module.h"

namespace toroid {

// True if every device of a partitioned program holds all arguments and results, replicated, and sends nothing.
bool IsNothingCut(const Module& partitioned);

// "nothing is sharded, so ...; for example: --num_partitions=8 --shard 'w1={devices=[1,8]<=[8]}'": the largest
// parameter of the global module, cut in its largest dimension. `num_devices`: 0 for any number.
std::string NothingShardedText(const Module& module, int64_t num_devices);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_COMMAND_NOTHING_SHARDED_H_
