#include "hlo/ops/device_groups.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/devices/device_limit.h"
#include "hlo/ops/constraint.h"

namespace toroid {
namespace {

// The product of positive sizes up to kMaxDevices; nullopt otherwise.
template <typename Sizes>
std::optional<int64_t> DeviceProduct(const Sizes& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) {
    if (size < 1 || size > kMaxDevices / product) return std::nullopt;
    product *= size;
  }
  return product;
}

template <typename Permutation>
bool IsPermutation(const Permutation& permutation, int rank) {
  std::vector<bool> seen(rank, false);
  for (const int64_t d : permutation) {
    if (d < 0 || d >= rank || seen[d]) return false;
    seen[d] = true;
  }
  return permutation.size() == rank;
}

template <typename Ids>
bool AreDistinctIds(const Ids& ids) {
  std::vector<int64_t> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  return (sorted.empty() || (sorted.front() >= 0 && sorted.back() < kMaxDevices)) &&
         std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

absl::StatusOr<DeviceGroupSizes> CheckIota(const xla::IotaReplicaGroupListProto& iota) {
  const std::optional<int64_t> wanted =
      DeviceProduct(std::vector<int64_t>{iota.num_replica_groups(), iota.num_devices_per_group()});
  const std::optional<int64_t> found = DeviceProduct(iota.iota_reshape_dims());
  if (!wanted || wanted != found || iota.iota_reshape_dims_size() == 0 ||
      !IsPermutation(iota.iota_transpose_perm(), iota.iota_reshape_dims_size())) {
    return Violates("C2", "the iota of the device groups",
                    absl::StrCat("[", iota.num_replica_groups(), ",", iota.num_devices_per_group(), "] of ",
                                 ListOf(AsSpan(iota.iota_reshape_dims()))),
                    "as many devices on both sides, and a permutation");
  }
  return DeviceGroupSizes{true, iota.num_devices_per_group(), *found, *found};
}

absl::StatusOr<DeviceGroupSizes> CheckMesh(const xla::MeshAxesReplicaGroupListProto& groups) {
  const xla::MeshProto& mesh = groups.mesh();
  std::vector<int64_t> sizes;
  for (const auto& axis : mesh.axes()) sizes.push_back(axis.size());
  const std::optional<int64_t> devices = DeviceProduct(sizes);
  bool valid = devices.has_value();
  if (mesh.has_iota_transform()) {
    valid &= DeviceProduct(mesh.iota_transform().reshape_dims()) == devices &&
             IsPermutation(mesh.iota_transform().transpose_perm(), mesh.iota_transform().reshape_dims_size());
  } else if (mesh.device_ids_size() > 0) {
    valid &= mesh.device_ids_size() == devices && AreDistinctIds(mesh.device_ids());
  }
  if (!valid) {
    return Violates("C2", "the mesh of the device groups",
                    absl::StrCat("axes ", ListOf(sizes), " of ", mesh.device_ids_size(), " listed devices"),
                    "as many distinct devices as the axes hold");
  }
  // Parts of one axis must not overlap: [pre, pre * size) in units of the axis.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> parts(sizes.size());
  int64_t members = 1;
  for (const xla::AxisRefProto& axis : groups.axes()) {
    const int64_t index = axis.mesh_axis_index();
    if (index < 0 || index >= static_cast<int64_t>(sizes.size())) {
      return Violates("C2", "mesh axis of the device groups", absl::StrCat(index),
                      absl::StrCat("one of ", sizes.size()));
    }
    int64_t pre = 1, size = sizes[index];
    if (axis.has_sub_axis_info()) {
      pre = axis.sub_axis_info().pre_size();
      size = axis.sub_axis_info().size();
      if (pre < 1 || size < 1 || sizes[index] % pre != 0 || (sizes[index] / pre) % size != 0) {
        return Violates("C2", "sub-axis of the device groups", absl::StrCat("(", pre, ")", size),
                        absl::StrCat("factors of the axis size ", sizes[index]));
      }
    }
    for (const auto& [other_pre, other_size] : parts[index]) {
      if (pre < other_pre * other_size && other_pre < pre * size) {
        return Violates("C2", "axes of the device groups",
                        absl::StrCat(mesh.axes(static_cast<int>(index)).name(), " twice"), "distinct ones");
      }
    }
    parts[index].push_back({pre, size});
    members *= size;
  }
  int64_t end = *devices;
  if (!mesh.has_iota_transform()) {
    for (const int64_t id : mesh.device_ids()) end = std::max(end, id + 1);
  }
  return DeviceGroupSizes{true, members, *devices, end};
}

template <typename Groups>
absl::StatusOr<DeviceGroupSizes> CheckExplicit(const Groups& groups, bool may_differ) {
  if (groups.empty()) return DeviceGroupSizes();
  std::vector<int64_t> ids;
  bool equal = true;
  for (const xla::ReplicaGroup& group : groups) {
    if (group.replica_ids().empty()) return Violates("C1", "device group", "{}", "at least one device");
    equal &= group.replica_ids_size() == groups.begin()->replica_ids_size();
    ids.insert(ids.end(), group.replica_ids().begin(), group.replica_ids().end());
  }
  if (!AreDistinctIds(ids)) {
    return Violates("C1", "device groups", ListOf(ids), "ids of 0 or more, each in one group");
  }
  if (!equal && !may_differ) return Violates("C3", "device groups", "different sizes", "equal sizes");
  DeviceGroupSizes sizes;
  sizes.given = true;
  sizes.members = static_cast<int64_t>(ids.size());
  sizes.end = *std::max_element(ids.begin(), ids.end()) + 1;
  if (equal) sizes.size = groups.begin()->replica_ids_size();
  return sizes;
}

}  // namespace

absl::StatusOr<DeviceGroupSizes> CheckDeviceGroups(const xla::HloInstructionProto& instruction,
                                                   bool may_differ) {
  if (instruction.has_iota_collective_device_list())
    return CheckIota(instruction.iota_collective_device_list());
  if (instruction.has_mesh_axes_replica_group_list())
    return CheckMesh(instruction.mesh_axes_replica_group_list());
  if (instruction.replica_groups_size() > 0) return CheckExplicit(instruction.replica_groups(), may_differ);
  const xla::CollectiveDeviceListProto& list = instruction.collective_device_list();
  // Files of 2024 and 2025 hold an iota in field 2; it takes precedence.
  const google::protobuf::UnknownFieldSet& unknown = list.GetReflection()->GetUnknownFields(list);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const google::protobuf::UnknownField& field = unknown.field(i);
    xla::IotaReplicaGroupListProto iota;
    if (field.number() == 2 && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        iota.ParseFromString(field.length_delimited())) {
      return CheckIota(iota);
    }
  }
  return CheckExplicit(list.replica_groups(), may_differ);
}

}  // namespace toroid
