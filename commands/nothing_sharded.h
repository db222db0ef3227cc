// Recognizes programs in which nothing is sharded, and tells the user how to begin.
#pragma once

#include <cstdint>
#include <string>

#include "hlo/ir/module.h"

namespace toroid {

// True if all parameters and results of a partitioned program are replicated, and it has no collectives.
bool IsNothingCut(const Module& partitioned);

// For a module whose shardings ask for cuts: the first of them, and that no op cuts anything for it. For others:
// "nothing is sharded, so ...; give a sharding, for example --num_partitions=8 --shard
// 'w1={devices=[1,8]<=[8]}'". The example cuts the largest parameter of the global module in its largest
// dimension that the number of devices divides. `num_devices`: 0 for any number.
std::string NothingShardedText(const Module& module, int64_t num_devices);

}  // namespace toroid
