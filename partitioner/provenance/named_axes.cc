#include "partitioner/provenance/named_axes.h"

#include <algorithm>

#include "hlo/devices/device_limit.h"
#include "hlo/io/module_meshes.h"
#include "hlo/io/sdy_sharding.h"

namespace toroid {

NamedAxes ShardyAxes(const Module& module, int64_t n, const DeviceOrder* order) {
  NamedAxes axes;
  const absl::StatusOr<SdyMeshes> meshes = SdyMeshesOf(module);
  if (!meshes.ok()) return axes;
  for (const auto& [name, mesh] : *meshes) {
    if (mesh.NumDevices() != n || mesh.axes.size() <= axes.size()) continue;
    bool same_order = true;
    for (int64_t i = 0; order != nullptr && i < n && same_order; ++i) {
      same_order = order->DeviceAt(i) == (mesh.device_ids.empty() ? i : mesh.device_ids[i]);
    }
    if (!same_order) continue;
    axes.clear();
    for (const SdyMesh::Axis& axis : mesh.axes) axes.emplace_back(axis.name, axis.size);
  }
  return axes;
}

NamedAxes GspmdAxes(const Module& module, int64_t n) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->sharding() == nullptr || !instruction->sharding()->has_named_sharding()) continue;
      const xla::MeshProto& mesh = instruction->sharding()->named_sharding().mesh();
      NamedAxes axes;
      int64_t devices = 1;
      for (const auto& axis : mesh.axes()) {
        axes.emplace_back(axis.name(), axis.size());
        devices *= std::max<int64_t>(1, std::min(axis.size(), kMaxDevices));
        if (devices > n) break;
      }
      if (devices == n && mesh.device_ids_size() == 0) return axes;
    }
  }
  return {};
}

}  // namespace toroid
