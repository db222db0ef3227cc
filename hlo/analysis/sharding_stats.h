// The shardings in a module, in either of the forms that compilers write.
#ifndef TOROID_HLO_ANALYSIS_SHARDING_STATS_H_
#define TOROID_HLO_ANALYSIS_SHARDING_STATS_H_

#include <cstdint>
#include <map>
#include <string>

#include "hlo/ir/module.h"

namespace toroid {

// The sharding of an instruction as Shardy's frontend attribute spells it, which counts where there are two,
// or as HLO text does; "" without one.
std::string ShardingText(const Instruction& instruction);

struct ShardingStats {
  std::map<std::string, int64_t> distinct;  // How many instructions have each, by ShardingText.
  int64_t annotated = 0;                    // Instructions with one,
  int64_t unannotated = 0;                  // and without.
  std::map<std::string, int64_t> meshes;    // Named ones, and how many instructions use them.
  int64_t devices = 1;                      // The most that num_partitions, a sharding or a mesh names.
};

// Over all computations.
ShardingStats ComputeShardingStats(const Module& module);

}  // namespace toroid

#endif  // TOROID_HLO_ANALYSIS_SHARDING_STATS_H_
