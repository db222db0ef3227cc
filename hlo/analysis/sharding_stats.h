// Statistics of the shardings in a module, ordinary ones and Shardy's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hlo/ir/module.h"

namespace toroid {

// The sharding of an instruction as text: the Shardy frontend attribute if there is one, otherwise the
// sharding as in HLO text; "" without one.
std::string ShardingText(const Instruction& instruction);

struct ShardingStats {
  std::map<std::string, int64_t> distinct;  // How many instructions have each, by ShardingText.
  int64_t annotated = 0;                    // Instructions with a sharding.
  int64_t unannotated = 0;                  // Instructions without one.
  std::map<std::string, int64_t> meshes;    // By named mesh: how many instructions use it.
  int64_t devices = 1;                      // The largest number in num_partitions, a sharding or a mesh.
};

// Over all computations.
ShardingStats ComputeShardingStats(const Module& module);

}  // namespace toroid
