// What a caller may ask of the partitioner, and what it reports.
#ifndef TOROID_PARTITIONER_PARTITION_OPTIONS_H_
#define TOROID_PARTITIONER_PARTITION_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "hlo/cost/cost_model.h"
#include "hlo/ir/module.h"

namespace toroid {

struct PartitionOptions {
  int64_t num_partitions = 0;  // 0: what the shardings name.
  // Relabels the devices of all shardings by a seeded permutation.
  std::optional<uint64_t> device_order_seed;
  bool replicate_outputs = false;
  // Test aid: writes garbage (NaN, for integers the largest) beyond the valid part of every uneven result.
  bool poison_padding = false;
  // Computes every op on whole arrays. The slowest correct partitioning; a reference for tests.
  bool replicate_everything = false;
  // By which resharding, assignment and halo exchanges are chosen; outlives the call.
  const CostModel* cost = &DefaultCostModel();
  // Called with the name of a phase and the module after it.
  std::function<absl::Status(absl::string_view phase, const Module& module)> after_phase;
};

// An op computed on whole arrays although some operand or its result was cut, or a gather of a whole array.
struct FullReplication {
  std::string instruction;
  std::string source;
  int64_t bytes = 0;
  std::string reason;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PARTITION_OPTIONS_H_
