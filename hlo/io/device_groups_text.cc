#include "hlo/io/device_groups_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/io/mesh_text.h"

namespace toroid {
namespace {

absl::Status ParseIotaGroups(TextScanner* scanner, xla::IotaReplicaGroupListProto* groups) {
  const size_t begin = scanner->Position();
  ASSIGN_OR_RETURN(const std::vector<int64_t> counts, scanner->IntegerList("[", "]"));
  if (counts.size() != 2) return scanner->ErrorAt(begin, "expected [number of groups, members of each]");
  ASSIGN_OR_RETURN(const int64_t wanted, DeviceCount(counts, scanner));
  RETURN_IF_ERROR(scanner->Expect("<="));
  std::vector<int64_t> dims, permutation;
  RETURN_IF_ERROR(ParseIota(scanner, &dims, &permutation));
  ASSIGN_OR_RETURN(const int64_t found, DeviceCount(dims, scanner));
  if (found != wanted) {
    return scanner->ErrorAt(begin,
                            absl::StrCat("the groups take ", wanted, " devices, the iota has ", found));
  }
  groups->set_num_replica_groups(counts[0]);
  groups->set_num_devices_per_group(counts[1]);
  groups->mutable_iota_reshape_dims()->Add(dims.begin(), dims.end());
  for (const int64_t d : permutation) groups->add_iota_transpose_perm(static_cast<int32_t>(d));
  return absl::OkStatus();
}

std::string IotaToString(const xla::IotaReplicaGroupListProto& groups) {
  std::string out = absl::StrCat("[", groups.num_replica_groups(), ",", groups.num_devices_per_group(),
                                 "]<=[", absl::StrJoin(groups.iota_reshape_dims(), ","), "]");
  if (!std::is_sorted(groups.iota_transpose_perm().begin(), groups.iota_transpose_perm().end())) {
    absl::StrAppend(&out, "T(", absl::StrJoin(groups.iota_transpose_perm(), ","), ")");
  }
  return out;
}

template <typename Groups>
std::string ExplicitToString(const Groups& groups) {
  return absl::StrCat("{",
                      absl::StrJoin(groups, ",",
                                    [](std::string* s, const xla::ReplicaGroup& group) {
                                      absl::StrAppend(s, "{", absl::StrJoin(group.replica_ids(), ","), "}");
                                    }),
                      "}");
}

// Files of 2024 and 2025 hold an iota in field 2 of the explicit list.
bool RetiredIota(const xla::CollectiveDeviceListProto& list, xla::IotaReplicaGroupListProto* iota) {
  const google::protobuf::UnknownFieldSet& unknown = list.GetReflection()->GetUnknownFields(list);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const google::protobuf::UnknownField& field = unknown.field(i);
    if (field.number() == 2 && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      return iota->ParseFromString(field.length_delimited());
    }
  }
  return false;
}

}  // namespace

absl::Status ParseDeviceGroups(TextScanner* scanner, xla::HloInstructionProto* instruction) {
  if (scanner->Peek() == '[') {
    return ParseIotaGroups(scanner, instruction->mutable_iota_collective_device_list());
  }
  if (AtMesh(scanner)) {
    xla::MeshAxesReplicaGroupListProto* groups = instruction->mutable_mesh_axes_replica_group_list();
    RETURN_IF_ERROR(ParseMesh(scanner, groups->mutable_mesh()));
    return ParseAxes(groups->mesh(), scanner, groups->mutable_axes());
  }
  xla::CollectiveDeviceListProto* list = instruction->mutable_collective_device_list();
  return scanner->List("{", "}", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<int64_t> ids, scanner->IntegerList());
    list->add_replica_groups()->mutable_replica_ids()->Add(ids.begin(), ids.end());
    return absl::OkStatus();
  });
}

std::string DeviceGroupsToString(const xla::HloInstructionProto& instruction) {
  if (instruction.has_iota_collective_device_list()) {
    return IotaToString(instruction.iota_collective_device_list());
  }
  if (instruction.has_mesh_axes_replica_group_list()) {
    const xla::MeshAxesReplicaGroupListProto& groups = instruction.mesh_axes_replica_group_list();
    return absl::StrCat(MeshToString(groups.mesh()), " ", AxesToString(groups.mesh(), groups.axes()));
  }
  if (instruction.replica_groups_size() > 0) return ExplicitToString(instruction.replica_groups());
  xla::IotaReplicaGroupListProto iota;
  if (RetiredIota(instruction.collective_device_list(), &iota)) return IotaToString(iota);
  return ExplicitToString(instruction.collective_device_list().replica_groups());
}

}  // namespace toroid
