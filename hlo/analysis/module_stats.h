// Statistics of a module: counts, sizes, work, calls, collectives and shardings.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hlo/analysis/sharding_stats.h"
#include "hlo/ir/module.h"

namespace toroid {

struct ModuleStats {
  struct Arrays {
    int64_t count = 0;
    int64_t bytes = 0;
  };
  struct Parameter {
    std::string name;
    std::string author_name;  // The program author's name for it (parameter_name.h).
    std::string shape;
    int64_t bytes = 0;
    std::string sharding;  // Empty if it has none.
  };
  struct Tensor {
    std::string computation;
    std::string instruction;  // Followed by {1,0} for an element of a tuple.
    std::string opcode;
    std::string shape;
    int64_t bytes = 0;
    std::string source;  // "file:line", empty if unknown.
  };
  // Instructions of one opcode in `caller` that call `callee`.
  struct Call {
    std::string caller;
    std::string opcode;
    std::string callee;
    int64_t count = 0;
  };
  struct Collective {
    int64_t count = 0;
    int64_t operand_bytes = 0;
    std::set<int64_t> group_sizes;
    int64_t unknown_groups = 0;  // Instructions of unknown group size.
  };

  std::string name;
  int64_t computations = 0;
  int64_t instructions = 0;
  std::map<std::string, int64_t> opcodes;
  // By element type: the arrays that instructions make, including parameters, excluding kNoStorage
  // instructions.
  std::map<std::string, Arrays> element_types;
  // Over all computations, the body of a loop once.
  int64_t flops = 0;
  // Over the entry and the bodies of calls, loops, branches and asynchronous ops, each once. Values inside
  // fusions and reducers stay in registers and do not count.
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  std::vector<Parameter> parameters;  // The entry's.
  int64_t parameter_bytes = 0;
  std::string result_shape;
  int64_t result_bytes = 0;
  std::vector<Tensor> largest;                    // At most kLargest arrays, largest first.
  std::vector<Call> calls;                        // In the order of callers.
  std::map<std::string, int64_t> custom_calls;    // By target.
  std::map<std::string, Collective> collectives;  // By opcode.
  ShardingStats shardings;

  static constexpr size_t kLargest = 10;
};

// `module` need not be valid.
ModuleStats ComputeModuleStats(const Module& module);

}  // namespace toroid
