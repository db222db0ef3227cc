#include "hlo/devices/replica_groups.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/unknown_field_set.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/device_limit.h"
#include "hlo/devices/permute_pattern.h"

namespace toroid {
namespace {

bool HasChannel(const xla::HloInstructionProto& attrs) {
  return attrs.channel_id() > 0 || attrs.all_reduce_id() > 0;
}

// Files of 2024 and 2025 hold an iota in field 2 of the explicit list.
std::optional<xla::IotaReplicaGroupListProto> RetiredIota(const xla::CollectiveDeviceListProto& list) {
  const google::protobuf::UnknownFieldSet& unknown = list.GetReflection()->GetUnknownFields(list);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const google::protobuf::UnknownField& field = unknown.field(i);
    xla::IotaReplicaGroupListProto iota;
    if (field.number() == 2 && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        iota.ParseFromString(field.length_delimited())) {
      return iota;
    }
  }
  return std::nullopt;
}

// An array of numbers as an iota in shape `dims`, transposed by `order` and read row-major.
struct TransposedIota {
  std::vector<int64_t> dims;
  std::vector<int64_t> order;
};

absl::Status CheckIota(const TransposedIota& iota, int64_t count) {
  int64_t product = 1;
  for (const int64_t d : iota.dims) {
    const std::optional<int64_t> next = d > 0 ? CheckedMultiply(product, d) : std::nullopt;
    if (!next.has_value()) return absl::InvalidArgumentError("the iota of the device groups has a bad shape");
    product = *next;
  }
  std::vector<int64_t> sorted = iota.order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) sorted.clear();
  }
  if (sorted.size() != iota.dims.size()) {
    return absl::InvalidArgumentError("the iota of the device groups is transposed by no permutation");
  }
  if (product != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the iota of the device groups has ", product, " numbers, its groups take ", count));
  }
  return absl::OkStatus();
}

std::vector<int64_t> Strides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

// The numbers 0.. placed at `sizes` x `strides`, first dimension slowest.
std::vector<int64_t> Walk(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  std::vector<int64_t> numbers = {0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> next;
    next.reserve(numbers.size() * sizes[d]);
    for (const int64_t base : numbers) {
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(base + i * strides[d]);
    }
    numbers = std::move(next);
  }
  return numbers;
}

std::vector<int64_t> ReadIota(const TransposedIota& iota) {
  const std::vector<int64_t> strides = Strides(iota.dims);
  std::vector<int64_t> sizes, steps;
  for (const int64_t d : iota.order) {
    sizes.push_back(iota.dims[d]);
    steps.push_back(strides[d]);
  }
  return Walk(sizes, steps);
}

TransposedIota IotaOf(const xla::IotaReplicaGroupListProto& proto) {
  TransposedIota iota;
  iota.dims.assign(proto.iota_reshape_dims().begin(), proto.iota_reshape_dims().end());
  iota.order.assign(proto.iota_transpose_perm().begin(), proto.iota_transpose_perm().end());
  if (iota.order.empty()) {
    for (size_t i = 0; i < iota.dims.size(); ++i) iota.order.push_back(static_cast<int64_t>(i));
  }
  return iota;
}

// A mesh, split into the parts that vary inside a group (in the listed order) and the rest (in mesh order).
struct MeshParts {
  std::vector<int64_t> group_sizes, group_strides;  // In positions of the mesh.
  std::vector<int64_t> other_sizes, other_strides;
  int64_t size = 1;
};

absl::Status SplitMesh(const xla::MeshAxesReplicaGroupListProto& proto, int64_t most, MeshParts* parts) {
  std::vector<int64_t> sizes;
  for (const auto& axis : proto.mesh().axes()) {
    const std::optional<int64_t> size =
        axis.size() > 0 ? CheckedMultiply(parts->size, axis.size()) : std::nullopt;
    if (!size.has_value() || *size > most) {
      return absl::InvalidArgumentError(
          absl::StrCat("the mesh of the device groups has more than ", most, " devices"));
    }
    parts->size = *size;
    sizes.push_back(axis.size());
  }
  const std::vector<int64_t> strides = Strides(sizes);
  // Per axis, the listed parts as (pre-size, size).
  std::vector<std::vector<std::pair<int64_t, int64_t>>> taken(sizes.size());
  for (const xla::AxisRefProto& axis : proto.axes()) {
    const int64_t a = axis.mesh_axis_index();
    if (a < 0 || a >= static_cast<int64_t>(sizes.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("the device groups name axis ", a, " of ", sizes.size()));
    }
    const int64_t pre = axis.has_sub_axis_info() ? axis.sub_axis_info().pre_size() : 1;
    const int64_t size = axis.has_sub_axis_info() ? axis.sub_axis_info().size() : sizes[a];
    if (pre < 1 || size < 1 || pre > sizes[a] || size > sizes[a] || sizes[a] % (pre * size) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the device groups name a sub-axis (", pre, ")", size, " of an axis of ", sizes[a]));
    }
    taken[a].emplace_back(pre, size);
    parts->group_sizes.push_back(size);
    parts->group_strides.push_back(strides[a] * (sizes[a] / (pre * size)));
  }
  for (size_t a = 0; a < sizes.size(); ++a) {
    std::sort(taken[a].begin(), taken[a].end());
    int64_t done = 1;  // Product of the parts passed so far.
    for (const auto& [pre, size] : taken[a]) {
      if (pre < done || pre % done != 0)
        return absl::InvalidArgumentError("the device groups use an axis twice");
      parts->other_sizes.push_back(pre / done);
      parts->other_strides.push_back(strides[a] * (sizes[a] / pre));
      done = pre * size;
    }
    parts->other_sizes.push_back(sizes[a] / done);
    parts->other_strides.push_back(strides[a]);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> MeshDevices(const xla::MeshProto& mesh, int64_t size) {
  std::vector<int64_t> devices;
  if (mesh.device_ids_size() > 0) {
    devices.assign(mesh.device_ids().begin(), mesh.device_ids().end());
    if (static_cast<int64_t>(devices.size()) != size) {
      return absl::InvalidArgumentError(absl::StrCat("the mesh of the device groups lists ", devices.size(),
                                                     " devices, its axes span ", size));
    }
    return devices;
  }
  TransposedIota iota{{size}, {0}};
  if (mesh.has_iota_transform()) {
    iota.dims.assign(mesh.iota_transform().reshape_dims().begin(),
                     mesh.iota_transform().reshape_dims().end());
    iota.order.assign(mesh.iota_transform().transpose_perm().begin(),
                      mesh.iota_transform().transpose_perm().end());
  }
  RETURN_IF_ERROR(CheckIota(iota, size));
  return ReadIota(iota);
}

absl::StatusOr<DeviceGroups> MeshGroups(const xla::MeshAxesReplicaGroupListProto& proto, int64_t most) {
  MeshParts parts;
  RETURN_IF_ERROR(SplitMesh(proto, most, &parts));
  ASSIGN_OR_RETURN(const std::vector<int64_t> devices, MeshDevices(proto.mesh(), parts.size));
  const std::vector<int64_t> inside = Walk(parts.group_sizes, parts.group_strides);
  DeviceGroups groups;
  std::vector<int64_t> group(inside.size());
  for (const int64_t base : Walk(parts.other_sizes, parts.other_strides)) {
    for (size_t i = 0; i < inside.size(); ++i) group[i] = devices[base + inside[i]];
    groups.Append(group);
  }
  return groups;
}

absl::StatusOr<int64_t> IotaCount(const xla::IotaReplicaGroupListProto& proto, int64_t most) {
  const int64_t groups = proto.num_replica_groups(), members = proto.num_devices_per_group();
  const std::optional<int64_t> count =
      groups > 0 && members > 0 ? CheckedMultiply(groups, members) : std::nullopt;
  if (!count.has_value() || *count > most) {
    return absl::InvalidArgumentError(
        absl::StrCat(groups, " device groups of ", members, " do not fit ", most, " devices"));
  }
  return *count;
}

absl::StatusOr<DeviceGroups> IotaGroups(const xla::IotaReplicaGroupListProto& proto, int64_t most) {
  ASSIGN_OR_RETURN(const int64_t count, IotaCount(proto, most));
  const TransposedIota iota = IotaOf(proto);
  RETURN_IF_ERROR(CheckIota(iota, count));
  const std::vector<int64_t> numbers = ReadIota(iota);
  DeviceGroups groups;
  for (int64_t g = 0; g < proto.num_replica_groups(); ++g) {
    groups.Append(absl::MakeConstSpan(numbers).subspan(g * proto.num_devices_per_group(),
                                                       proto.num_devices_per_group()));
  }
  return groups;
}

template <typename Groups>
DeviceGroups ExplicitGroups(const Groups& list) {
  DeviceGroups groups;
  for (const xla::ReplicaGroup& group : list) {
    groups.Append(absl::MakeConstSpan(group.replica_ids().data(), group.replica_ids_size()));
  }
  return groups;
}

// The groups as listed; empty if the instruction lists none. Numbers must be below `most`.
absl::StatusOr<DeviceGroups> ListedGroups(const xla::HloInstructionProto& attrs, int64_t most) {
  if (attrs.has_iota_collective_device_list()) return IotaGroups(attrs.iota_collective_device_list(), most);
  if (attrs.has_mesh_axes_replica_group_list()) return MeshGroups(attrs.mesh_axes_replica_group_list(), most);
  if (attrs.replica_groups_size() > 0) return ExplicitGroups(attrs.replica_groups());
  if (!attrs.has_collective_device_list()) return DeviceGroups();
  const auto retired = RetiredIota(attrs.collective_device_list());
  if (retired.has_value()) return IotaGroups(*retired, most);
  return ExplicitGroups(attrs.collective_device_list().replica_groups());
}

// The range of numbers in groups of this mode: 0 .. range - 1.
int64_t RangeOf(GroupMode mode, int64_t num_replicas, int64_t num_partitions) {
  switch (mode) {
    case GroupMode::kCrossReplica:
    case GroupMode::kCrossReplicaAndPartition:
      return num_replicas;
    case GroupMode::kCrossPartition:
      return num_partitions;
    case GroupMode::kFlattened:
      return num_replicas * num_partitions;
  }
  return 0;
}

absl::Status CheckMembers(const DeviceGroups& groups, int64_t range) {
  std::vector<bool> seen(range, false);
  for (const int64_t id : groups.members()) {
    if (id < 0 || id >= range) {
      return absl::InvalidArgumentError(
          absl::StrCat("the device groups name ", id, ", ids go up to ", range - 1));
    }
    if (seen[id]) return absl::InvalidArgumentError(absl::StrCat("the device groups name ", id, " twice"));
    seen[id] = true;
  }
  return absl::OkStatus();
}

DeviceGroups OneGroupOf(int64_t range) {
  std::vector<int64_t> all(range);
  for (int64_t i = 0; i < range; ++i) all[i] = i;
  DeviceGroups groups;
  groups.Append(all);
  return groups;
}

}  // namespace

absl::StatusOr<GroupMode> GroupModeOf(const Instruction& instruction) {
  const bool channel = HasChannel(instruction.attrs()), global = instruction.attrs().use_global_device_ids();
  if (!HasAttribute(instruction.opcode(), kGlobalIds)) {
    return channel ? GroupMode::kCrossPartition : GroupMode::kCrossReplica;
  }
  if (global && !channel) return absl::InvalidArgumentError("use_global_device_ids needs a channel_id");
  if (global) return GroupMode::kFlattened;
  return channel ? GroupMode::kCrossReplicaAndPartition : GroupMode::kCrossReplica;
}

absl::StatusOr<DeviceGroups> ListedDeviceGroups(const Instruction& instruction) {
  return ListedGroups(instruction.attrs(), kMaxDevices);
}

absl::StatusOr<DeviceGroups> ExpandDeviceGroups(const Instruction& instruction, int64_t num_replicas,
                                                int64_t num_partitions) {
  ASSIGN_OR_RETURN(const GroupMode mode, GroupModeOf(instruction));
  const int64_t range = RangeOf(mode, num_replicas, num_partitions);
  ASSIGN_OR_RETURN(DeviceGroups listed, ListedGroups(instruction.attrs(), range));
  RETURN_IF_ERROR(CheckMembers(listed, range));
  if (listed.members().empty()) {
    if (mode == GroupMode::kFlattened) return absl::InvalidArgumentError("flattened ids need device groups");
    listed = OneGroupOf(range);
  }
  DeviceGroups groups;
  switch (mode) {
    case GroupMode::kFlattened:
      return listed;
    case GroupMode::kCrossReplica:
      for (int64_t p = 0; p < num_partitions; ++p) {
        for (int64_t g = 0; g < listed.size(); ++g) {
          std::vector<int64_t> devices;
          for (const int64_t replica : listed.group(g)) devices.push_back(replica * num_partitions + p);
          groups.Append(devices);
        }
      }
      return groups;
    case GroupMode::kCrossReplicaAndPartition:
      for (int64_t g = 0; g < listed.size(); ++g) {
        std::vector<int64_t> devices;
        for (const int64_t replica : listed.group(g)) {
          for (int64_t p = 0; p < num_partitions; ++p) devices.push_back(replica * num_partitions + p);
        }
        groups.Append(devices);
      }
      return groups;
    case GroupMode::kCrossPartition:
      for (int64_t r = 0; r < num_replicas; ++r) {
        for (int64_t g = 0; g < listed.size(); ++g) {
          std::vector<int64_t> devices;
          for (const int64_t partition : listed.group(g)) devices.push_back(r * num_partitions + partition);
          groups.Append(devices);
        }
      }
      return groups;
  }
  return groups;
}

absl::StatusOr<int64_t> DeviceGroupSize(const Instruction& instruction, int64_t num_replicas,
                                        int64_t num_partitions) {
  ASSIGN_OR_RETURN(const GroupMode mode, GroupModeOf(instruction));
  const int64_t range = RangeOf(mode, num_replicas, num_partitions);
  const xla::HloInstructionProto& attrs = instruction.attrs();
  int64_t size = 0;
  if (attrs.has_iota_collective_device_list()) {
    RETURN_IF_ERROR(IotaCount(attrs.iota_collective_device_list(), range).status());
    size = attrs.iota_collective_device_list().num_devices_per_group();
  } else if (attrs.has_mesh_axes_replica_group_list()) {
    MeshParts parts;
    RETURN_IF_ERROR(SplitMesh(attrs.mesh_axes_replica_group_list(), range, &parts));
    size = 1;
    for (const int64_t part : parts.group_sizes) size *= part;
  } else {
    ASSIGN_OR_RETURN(const DeviceGroups groups, ListedGroups(attrs, range));
    for (int64_t g = 0; g < groups.size(); ++g) size = std::max<int64_t>(size, groups.group(g).size());
    if (size == 0) size = range;
  }
  return mode == GroupMode::kCrossReplicaAndPartition ? size * num_partitions : size;
}

absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> ExpandSourceTargetPairs(
    const Instruction& instruction, int64_t num_replicas, int64_t num_partitions) {
  const bool partitions = HasChannel(instruction.attrs());
  const int64_t range = partitions ? num_partitions : num_replicas;
  std::vector<bool> is_source(range, false), is_target(range, false);
  const std::vector<std::pair<int64_t, int64_t>> pairs = SourceTargetPairs(instruction.attrs());
  for (const auto& [source, target] : pairs) {
    for (const int64_t id : {source, target}) {
      if (id < 0 || id >= range) {
        return absl::InvalidArgumentError(absl::StrCat("the pairs name ", id, ", ids go up to ", range - 1));
      }
    }
    if (is_source[source] || is_target[target]) {
      return absl::InvalidArgumentError(
          absl::StrCat("pair {", source, ",", target, "} repeats a source or a target"));
    }
    is_source[source] = is_target[target] = true;
  }
  std::vector<std::pair<int64_t, int64_t>> devices;
  for (int64_t i = 0; i < (partitions ? num_replicas : num_partitions); ++i) {
    for (const auto& [source, target] : pairs) {
      if (partitions) {
        devices.emplace_back(i * num_partitions + source, i * num_partitions + target);
      } else {
        devices.emplace_back(source * num_partitions + i, target * num_partitions + i);
      }
    }
  }
  return devices;
}

}  // namespace toroid
