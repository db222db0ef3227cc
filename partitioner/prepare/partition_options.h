// The options of the partitioner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/cost/cost_model.h"
#include "hlo/cost/objective.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"
#include "partitioner/spmd/local_value_hook.h"

namespace toroid {

class AssignmentPolicy;

// The passes that run over the program of one partition by default.
inline std::vector<std::string> DefaultPasses() {
  return {"windowed_einsum", "dead_code",         "duplicates",     "loop_collectives",
          "reduce_scatter",  "unit_dimensions",   "merge_movement", "dead_code",
          "product_order",   "merge_collectives", "causes"};
}

inline std::vector<std::string> DefaultStrategies() {
  return {"even_cuts", "idle_axes", "neighbours", "frontier", "forms"};
}
// The strategies without a search: each op is decided alone.
inline std::vector<std::string> NoSearch() { return {"even_cuts"}; }

struct PartitionOptions {
  int64_t num_partitions = 0;  // 0: the number of devices that the shardings name.
  // Relabels the devices of all shardings by a seeded permutation.
  std::optional<uint64_t> device_order_seed;
  bool replicate_outputs = false;
  // Chooses how each op is computed; must outlive the call. Null: CheapestAssignments().
  const AssignmentPolicy* policy = nullptr;
  // The strategies that look for better plans than the first one (../search/strategies.h), and "forms", which tries them on
  // equivalent forms of the program, too. Without any, each op is decided alone.
  std::vector<std::string> strategies = DefaultStrategies();
  // If set, called with every local value that the rewriting makes; for test aids such as PoisonPadding.
  LocalValueHook on_local_value;
  // The cost by which reshardings, assignments and halo exchanges are chosen; must outlive the call.
  const CostModel* cost = &DefaultCostModel();
  // What programs are compared by. Null: kSeconds with `step_seconds`, otherwise kBytes.
  std::optional<Objective> objective;
  // Predicts the seconds of a step of a written program, to choose between the few that are written. Null: by their prices.
  std::function<absl::StatusOr<double>(const Module& module)> step_seconds;
  // The passes to run over the program of one partition, in order, with their options, if they differ from the
  // defaults, as in "windowed_einsum:bytes=0". LocalPasses() has their names (../stages/local_passes.h).
  std::vector<std::string> passes = DefaultPasses();
  // A plan (partitioner/plan/plan_text.h) to partition by: nothing is propagated or searched. Empty: none.
  std::string plan;
  // Whether Partitioned::plan is wanted.
  bool states_plan = false;
  PassObserver observer;  // Sees the module after each phase and pass.
};

}  // namespace toroid
