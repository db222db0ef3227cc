#include "partitioner/spmd/collective_groups.h"

#include <vector>

#include "hlo/base/status.h"

namespace toroid {

// The groups are the mesh transposed so that the group's axes are minor.
void SetGroups(const Mesh& mesh, const AxisList& axes, int64_t replicas, xla::HloInstructionProto* attrs) {
  AxisList order = mesh.InOrder(mesh.AllAxes() & ~axes.Set());
  order.Append(axes);
  std::vector<int64_t> reshape;
  std::vector<int> dim_of_axis(mesh.num_axes());
  for (int axis = 0; axis < mesh.num_axes(); ++axis) {
    bool merge = false;
    for (int i = 1; i < order.size(); ++i) merge |= order[i] == axis && order[i - 1] == axis - 1;
    if (merge) {
      reshape.back() *= mesh.size(axis);
    } else {
      reshape.push_back(mesh.size(axis));
    }
    dim_of_axis[axis] = static_cast<int>(reshape.size()) - 1;
  }
  std::vector<int> perm;
  for (const int axis : order) {
    if (perm.empty() || perm.back() != dim_of_axis[axis]) perm.push_back(dim_of_axis[axis]);
  }
  const int64_t size = mesh.Product(axes), n = mesh.num_devices();
  if (IsInDeviceOrder(mesh)) {
    auto* list = attrs->mutable_iota_collective_device_list();
    list->set_num_replica_groups(replicas * n / size);
    list->set_num_devices_per_group(size);
    if (replicas > 1) {
      list->add_iota_reshape_dims(replicas);
      list->add_iota_transpose_perm(0);
    }
    for (const int64_t r : reshape) list->add_iota_reshape_dims(r);
    for (const int p : perm) list->add_iota_transpose_perm(p + (replicas > 1));
    return;
  }
  const absl::StatusOr<DeviceOrder> iota = DeviceOrder::Iota(reshape, perm);
  TOROID_CHECK(iota.ok());
  auto* list = attrs->mutable_collective_device_list();
  for (int64_t i = 0; i < replicas * n; i += size) {
    auto* group = list->add_replica_groups();
    for (int64_t j = i; j < i + size; ++j) {
      group->add_replica_ids(j / n * n + mesh.order().DeviceAt(iota->DeviceAt(j % n)));
    }
  }
}

void SetGroupsFrom(const Mesh& mesh, const AxisList& axes, int64_t member, xla::HloInstructionProto* attrs) {
  const std::vector<int64_t> at = mesh.Positions(axes);
  for (const int64_t other : mesh.Positions(mesh.InOrder(mesh.AllAxes() & ~axes.Set()))) {
    auto* group = attrs->mutable_collective_device_list()->add_replica_groups();
    for (size_t i = 0; i < at.size(); ++i) {
      group->add_replica_ids(
          mesh.order().DeviceAt(other + at[(static_cast<size_t>(member) + i) % at.size()]));
    }
  }
}

}  // namespace toroid
