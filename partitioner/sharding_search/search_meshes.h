// Which meshes to search, if only the number of devices is given.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/passes/change_mesh.h"
#include "partitioner/sharding_search/find_shardings.h"

namespace toroid {

// Meshes of one axis x and of two axes x, y, whose sizes are divisors of the number of devices. Example: 8: {8}, {2, 4}, {4,
// 2}.
std::vector<std::vector<AxisSize>> MeshesOf(int64_t num_devices);

struct MeshFound {
  std::vector<AxisSize> mesh;
  FoundShardings found;
};

// Searches the meshes in the order of what their best choice costs by prices, and ends with the first one whose bound is above
// the best measured time; `most` are written at most. The module has neither meshes nor shardings.
absl::StatusOr<MeshFound> FindMeshAndShardings(const Module& module, int64_t num_devices, int most,
                                               const ShardingSearchOptions& options);

}  // namespace toroid
