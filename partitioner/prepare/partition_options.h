// The options of the partitioner.
#ifndef TOROID_PARTITIONER_PREPARE_PARTITION_OPTIONS_H_
#define TOROID_PARTITIONER_PREPARE_PARTITION_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hlo/cost/cost_model.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"
#include "partitioner/spmd/local_value_hook.h"

namespace toroid {

class AssignmentPolicy;

// A quarter of the memory of a TPU v3 core: an array of that size does not lie beside another one, its copy and what else is there.
inline constexpr int64_t kWindowedEinsumBytes = int64_t{4} << 30;

// The one list of the passes that run over the program of one partition unless others are asked for.
inline std::vector<std::string> DefaultPasses() {
  return {"dead_code",      "duplicates", "loop_collectives", "reduce_scatter",    "unit_dimensions",
          "merge_movement", "dead_code",  "product_order",    "merge_collectives", "causes"};
}

struct PartitionOptions {
  int64_t num_partitions = 0;  // 0: what the shardings name.
  // Relabels the devices of all shardings by a seeded permutation.
  std::optional<uint64_t> device_order_seed;
  bool replicate_outputs = false;
  // How ops are computed; outlives the call. Null: CheapestAssignments().
  const AssignmentPolicy* policy = nullptr;
  // Search budget: total instructions of the candidate programs that one search may write to compare them (../search). A
  // module is searched up to three times, and so is each equivalent form of it. 0: each op is decided alone.
  int64_t searched_instructions = 20000;
  // Called with every local value that is made, for test aids such as PoisonPadding; empty: none.
  LocalValueHook on_local_value;
  // By which resharding, assignment and halo exchanges are chosen; outlives the call.
  const CostModel* cost = &DefaultCostModel();
  // Products whose gathered operand, or result before it is scattered, has as many bytes on a device become loops over its parts
  // (hlo/passes/windowed_einsum_pass.h). 0: all; INT64_MAX: none.
  int64_t windowed_einsum_bytes = kWindowedEinsumBytes;
  // Whether half of the parts come from each side, and how many steps are written out in a trip of the loop.
  bool windowed_einsum_both_directions = false;
  int64_t windowed_einsum_unroll = 1;
  // Passes over the program of one partition, in order: names of LocalPasses() (../stages/local_passes.h).
  std::vector<std::string> passes = DefaultPasses();
  // Called with the name of a phase or pass and the module after it.
  std::function<absl::Status(absl::string_view phase, const Module& module)> after_phase;
  // The verifier runs after each phase and pass; an error names it.
  bool verify = false;

  PipelineOptions Looking() const { return {after_phase, verify}; }
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PREPARE_PARTITION_OPTIONS_H_
