// The shardings that the instructions of a module state, in either dialect, before there is a mesh.
//
// Two dialects are read: ordinary `sharding` fields (GSPMD: closed, except for a Sharding call's unspecified
// dimensions) and `xla.sdy.*` frontend attributes (Shardy: open and closed dimensions, priorities). Where a module has
// Shardy meshes its strings count and ordinary shardings are ignored, but for those that were given from outside.
#ifndef TOROID_PARTITIONER_PROPAGATION_STATED_SHARDINGS_H_
#define TOROID_PARTITIONER_PROPAGATION_STATED_SHARDINGS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "hlo/io/sdy_sharding.h"
#include "hlo/ir/hlo_sharding.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// A sharding with what its dialect says beside the tiles.
struct StatedSharding {
  HloSharding sharding;
  uint64_t closed = ~uint64_t{0};      // Bit d: dimension d is not to be cut further.
  std::vector<int> priorities;         // Per dimension; empty: all 0.
  std::vector<SdyAxisRef> replicated;  // Axes of `mesh` that may not cut any dimension.
  std::optional<SdyMesh> mesh;         // Of a Shardy sharding that names axes.
};

struct StatedShardings {
  bool shardy = false;  // The dialect that counts.
  SdyMeshes meshes;
  int64_t num_devices = 0;           // That meshes and shardings name; 0: none does.
  std::optional<DeviceOrder> order;  // That a mesh states.
  std::vector<std::pair<int, StatedSharding>> tensors;
  // Side effects that one device is to run, and how the data of outfeeds lie, per leaf.
  absl::flat_hash_map<const Instruction*, int64_t> device;
  std::vector<std::pair<const Instruction*, std::vector<StatedSharding>>> fed;
};

// `given`: instructions whose ordinary sharding counts in either dialect.
// Errors: kInvalidArgument "computation/instruction: ..." for shardings that are malformed, do not fit their array, or
// name different numbers of devices.
absl::StatusOr<StatedShardings> ReadStatedShardings(const Module& module, const FlowGraph& graph,
                                                    const absl::flat_hash_set<const Instruction*>& given);

absl::StatusOr<StatedSharding> FromShardy(const SdySharding& sharding);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_STATED_SHARDINGS_H_
