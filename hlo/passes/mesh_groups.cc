#include "hlo/passes/mesh_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "hlo/base/status.h"
#include "hlo/devices/device_limit.h"
#include "hlo/devices/permute_pattern.h"
#include "hlo/devices/replica_groups.h"

namespace toroid {
namespace {

using Coordinates = std::vector<int64_t>;

Coordinates CoordinatesOf(int64_t position, const SdyMesh& mesh) {
  Coordinates out(mesh.axes.size());
  for (size_t a = mesh.axes.size(); a-- > 0;) {
    out[a] = position % mesh.axes[a].size;
    position /= mesh.axes[a].size;
  }
  return out;
}

int64_t PositionOf(const Coordinates& coordinates, const SdyMesh& mesh) {
  int64_t position = 0;
  for (size_t a = 0; a < mesh.axes.size(); ++a) position = position * mesh.axes[a].size + coordinates[a];
  return position;
}

// What the groups are at one place along the other axes: a list of groups, each of places along the axes `inside`. The places
// along the other axes are 0.
struct AxisGroups {
  std::vector<bool> inside;  // By axis.
  std::set<std::vector<int64_t>> groups;
};

// The position of each device on the mesh.
std::vector<int64_t> DevicePositions(const SdyMesh& mesh) {
  std::vector<int64_t> positions(mesh.NumDevices());
  std::iota(positions.begin(), positions.end(), 0);
  for (size_t i = 0; i < mesh.device_ids.size(); ++i) {
    const int64_t id = mesh.device_ids[i];
    if (id >= 0 && id < static_cast<int64_t>(positions.size())) positions[id] = static_cast<int64_t>(i);
  }
  return positions;
}

absl::StatusOr<std::vector<Coordinates>> GroupCoordinates(absl::Span<const int64_t> group,
                                                          const SdyMesh& mesh,
                                                          absl::Span<const int64_t> positions) {
  std::vector<Coordinates> out;
  for (const int64_t device : group) {
    if (device < 0 || device >= static_cast<int64_t>(positions.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("it joins device ", device, " of a mesh of ", positions.size()));
    }
    out.push_back(CoordinatesOf(positions[device], mesh));
  }
  return out;
}

absl::StatusOr<AxisGroups> ReadGroups(const DeviceGroups& groups, const SdyMesh& mesh) {
  AxisGroups out;
  out.inside.resize(mesh.axes.size());
  const std::vector<int64_t> positions = DevicePositions(mesh);
  std::vector<std::vector<Coordinates>> members;
  for (int64_t g = 0; g < groups.size(); ++g) {
    ASSIGN_OR_RETURN(std::vector<Coordinates> group, GroupCoordinates(groups.group(g), mesh, positions));
    for (const Coordinates& member : group) {
      for (size_t a = 0; a < member.size(); ++a) out.inside[a] = out.inside[a] || member[a] != group[0][a];
    }
    if (!group.empty()) members.push_back(std::move(group));
  }
  // The groups at each place along the other axes.
  std::map<int64_t, std::set<std::vector<int64_t>>> at;
  int64_t places = 1;
  for (size_t a = 0; a < mesh.axes.size(); ++a) places *= out.inside[a] ? 1 : mesh.axes[a].size;
  for (std::vector<Coordinates>& group : members) {
    Coordinates outside = group[0];
    std::vector<int64_t> inside;
    for (Coordinates& member : group) {
      for (size_t a = 0; a < member.size(); ++a) (out.inside[a] ? outside : member)[a] = 0;
      inside.push_back(PositionOf(member, mesh));
    }
    at[PositionOf(outside, mesh)].insert(std::move(inside));
  }
  if (!at.empty()) out.groups = at.begin()->second;
  for (const auto& [place, here] : at) {
    if (here != out.groups) places = -1;
  }
  if (!at.empty() && places != static_cast<int64_t>(at.size())) {
    return absl::InvalidArgumentError("the devices it joins are not those along axes of the mesh");
  }
  return out;
}

absl::Status KeepsSizes(const AxisGroups& groups, const SdyMesh& before, const SdyMesh& after) {
  for (size_t a = 0; a < before.axes.size(); ++a) {
    if (!groups.inside[a] || before.axes[a].size == after.axes[a].size) continue;
    return absl::InvalidArgumentError(absl::StrCat("it goes over the axis \"", before.axes[a].name,
                                                   "\", whose size would be ", after.axes[a].size,
                                                   " instead of ", before.axes[a].size));
  }
  return absl::OkStatus();
}

// The axes along which one group per place counts its members, the major one first. Errors: kInvalidArgument if there are
// several groups, or one that is not all places along its axes, in the order of some of them.
absl::StatusOr<std::vector<int>> OrderedAxes(const AxisGroups& groups, const SdyMesh& mesh) {
  std::vector<std::pair<int64_t, int>> strides;  // The member one step along the axis.
  int64_t size = 1;
  const std::vector<int64_t> none, &group = groups.groups.empty() ? none : *groups.groups.begin();
  for (size_t a = 0; a < mesh.axes.size(); ++a) {
    if (!groups.inside[a]) continue;
    Coordinates step(mesh.axes.size());
    step[a] = 1;
    const auto member = std::find(group.begin(), group.end(), PositionOf(step, mesh));
    strides.emplace_back(group.begin() - member, static_cast<int>(a));
    size *= mesh.axes[a].size;
  }
  std::sort(strides.begin(), strides.end());
  bool fits = groups.groups.size() == 1 && static_cast<int64_t>(group.size()) == size;
  for (int64_t i = 0; fits && i < size; ++i) {
    Coordinates place(mesh.axes.size());
    int64_t rest = i;
    for (size_t k = strides.size(); k-- > 0;) {
      const int64_t along = mesh.axes[strides[k].second].size;
      place[strides[k].second] = rest % along;
      rest /= along;
    }
    fits = group[i] == PositionOf(place, mesh);
  }
  if (!fits)
    return absl::InvalidArgumentError(
        "the devices it joins are a part of those along an axis, or in another order");
  std::vector<int> axes;
  for (const auto& [stride, axis] : strides) axes.push_back(axis);
  return axes;
}

absl::Status WritePairs(const AxisGroups& pairs, const SdyMesh& before, const SdyMesh& after,
                        xla::HloInstructionProto* out) {
  for (int64_t p = 0; p < after.NumDevices(); ++p) {
    const Coordinates place = CoordinatesOf(p, after);
    bool is_first = true;  // One of the places along the other axes.
    for (size_t a = 0; a < place.size(); ++a) is_first = is_first && (!pairs.inside[a] || place[a] == 0);
    if (!is_first) continue;
    for (const std::vector<int64_t>& pair : pairs.groups) {
      if (out->source_target_pairs_size() == kMaxDevices)
        return absl::InvalidArgumentError(
            absl::StrCat("it would have more than ", kMaxDevices, " pairs of devices"));
      int64_t ends[2];
      for (int end = 0; end < 2; ++end) {
        Coordinates device = CoordinatesOf(pair[end], before);
        for (size_t a = 0; a < place.size(); ++a) device[a] += place[a];
        ends[end] = PositionOf(device, after);
      }
      auto* added = out->add_source_target_pairs();
      added->set_source(ends[0]);
      added->set_target(ends[1]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceGroups> GroupsOf(const Instruction& collective, int64_t devices) {
  DeviceGroups groups;
  if (const auto pairs = SourceTargetPairs(collective.attrs()); !pairs.empty()) {
    for (const auto& [source, target] : pairs) groups.Append({source, target});
    return groups;
  }
  ASSIGN_OR_RETURN(groups, ListedDeviceGroups(collective));
  ASSIGN_OR_RETURN(const GroupMode mode, GroupModeOf(collective));
  if (groups.size() > 0 && mode != GroupMode::kCrossReplicaAndPartition) return groups;
  groups = {};
  std::vector<int64_t> all(devices);
  std::iota(all.begin(), all.end(), 0);
  groups.Append(all);
  return groups;
}

}  // namespace

absl::StatusOr<xla::HloInstructionProto> GroupsOnMesh(const Instruction& collective, const SdyMesh& before,
                                                      const SdyMesh& after) {
  ASSIGN_OR_RETURN(const DeviceGroups listed, GroupsOf(collective, before.NumDevices()));
  ASSIGN_OR_RETURN(const AxisGroups groups, ReadGroups(listed, before));
  RETURN_IF_ERROR(KeepsSizes(groups, before, after));
  xla::HloInstructionProto out;
  if (NumPairs(collective.attrs()) > 0) {
    RETURN_IF_ERROR(WritePairs(groups, before, after, &out));
    return out;
  }
  ASSIGN_OR_RETURN(const std::vector<int> axes, OrderedAxes(groups, before));
  auto* along = out.mutable_mesh_axes_replica_group_list();
  for (const SdyMesh::Axis& axis : after.axes) {
    auto* added = along->mutable_mesh()->add_axes();
    added->set_name(axis.name);
    added->set_size(axis.size);
  }
  for (const int axis : axes) along->add_axes()->set_mesh_axis_index(axis);
  return out;
}

void SetGroups(const xla::HloInstructionProto& groups, Instruction* collective) {
  xla::HloInstructionProto* attrs = collective->MutableAttrs();
  attrs->clear_replica_groups();
  attrs->clear_collective_device_list();
  attrs->clear_iota_collective_device_list();
  attrs->clear_mesh_axes_replica_group_list();
  attrs->clear_permute_pattern();
  attrs->clear_source_target_pairs();
  attrs->MergeFrom(groups);
}

}  // namespace toroid
