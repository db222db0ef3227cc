#include "hlo/passes/mesh_regions.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/device_limit.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/passes/mesh_groups.h"

namespace toroid {
namespace {

constexpr char kLowerAgain[] = "; lower the program again with the other mesh";

class Regions {
 public:
  Regions(const Module& module, const SdyMeshes& meshes, NewAxisSize size_of)
      : module_(module), meshes_(meshes), size_of_(size_of), one_replica_(ReplicasOf(module) <= 1) {}

  absl::StatusOr<std::vector<RegionGroups>> Read() {
    for (const auto& computation : module_.computations()) {
      for (const auto& instruction : computation->instructions()) {
        if (instruction->opcode() == Opcode::kCustomCall) {
          RETURN_IF_ERROR(Annotate(ReadBoundary(*instruction), instruction->Path()));
        }
      }
    }
    std::vector<RegionGroups> out;
    for (const auto& computation : module_.computations()) {
      for (const auto& instruction : computation->instructions()) {
        RETURN_IF_ERROR(Annotate(ReadInside(instruction.get(), &out), instruction->Path()));
      }
    }
    return out;
  }

 private:
  absl::Status ReadBoundary(const Instruction& instruction) {
    const absl::string_view target = instruction.custom_call_target();
    if (target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape") {
      return absl::InvalidArgumentError(
          absl::StrCat("a manual region names its devices by number instead of axes", kLowerAgain));
    }
    const bool enters = target == "xla.sdy.GlobalToLocalShape";
    if (!enters && target != "xla.sdy.LocalToGlobalShape") return absl::OkStatus();
    const std::string* axes = instruction.FrontendAttribute("xla.sdy.manual_axes");
    const std::string* text =
        instruction.FrontendAttribute(enters ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings");
    if (axes == nullptr || text == nullptr)
      return absl::InvalidArgumentError("lacks its shardings or manual axes");
    ASSIGN_OR_RETURN(const std::vector<std::string> manual, ParseSdyManualAxes(*axes));
    ASSIGN_OR_RETURN(const std::vector<SdySharding> shardings, ParseSdyShardings(*text, meshes_));
    for (size_t i = 0; i < shardings.size(); ++i) {
      RETURN_IF_ERROR(KeepMesh(shardings[i].mesh));
      for (size_t d = 0; d < shardings[i].dims.size(); ++d) {
        RETURN_IF_ERROR(CheckDim(shardings[i], d, manual, absl::StrCat(enters ? "operand " : "result ", i)));
      }
    }
    return absl::OkStatus();
  }

  // The collectives of all regions are over one mesh.
  absl::Status KeepMesh(const SdyMesh& mesh) {
    if (mesh.axes.empty()) return absl::OkStatus();
    if (mesh_.axes.empty()) mesh_ = mesh;
    const auto same = [](const SdyMesh::Axis& a, const SdyMesh::Axis& b) {
      return a.name == b.name && a.size == b.size;
    };
    if (absl::c_equal(mesh_.axes, mesh.axes, same) && mesh_.device_ids == mesh.device_ids)
      return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("manual regions are over several meshes", kLowerAgain));
  }

  // A dimension stays in as many parts.
  absl::Status CheckDim(const SdySharding& sharding, size_t d, const std::vector<std::string>& manual,
                        const std::string& value) {
    int64_t before = 1, after = 1;
    std::vector<std::string> changed;
    for (const SdyAxisRef& ref : sharding.dims[d].axes) {
      if (!absl::c_linear_search(manual, ref.name)) continue;
      const auto axis = absl::c_find_if(sharding.mesh.axes,
                                        [&](const SdyMesh::Axis& other) { return other.name == ref.name; });
      if (axis == sharding.mesh.axes.end()) continue;
      const int64_t is = ref.size == 0 ? axis->size : ref.size;
      // A part of an axis that changes has been refused.
      const int64_t then = ref.size == 0 ? size_of_(axis->name, axis->size) : ref.size;
      before = SaturatingMultiply(before, is);
      after = SaturatingMultiply(after, then);
      if (is != then) changed.push_back(absl::StrCat("\"", axis->name, "\""));
    }
    if (before == after) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "dimension ", d, " of ", value, " of the manual region is cut into ", before, " parts over the ",
        changed.size() == 1 ? "axis " : "axes ", absl::StrJoin(changed, ", "),
        ", and its body is written for one of them, not of ", after, kLowerAgain));
  }

  absl::Status ReadInside(Instruction* instruction, std::vector<RegionGroups>* out) {
    if (instruction->opcode() == Opcode::kPartitionId && !mesh_.axes.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a manual region reads the number of its device, which is that of the module's own mesh",
          kLowerAgain));
    }
    if (!IsCollective(instruction->opcode())) return absl::OkStatus();
    ASSIGN_OR_RETURN(const GroupMode mode, GroupModeOf(*instruction));
    if (mode == GroupMode::kCrossReplica) return absl::OkStatus();  // It joins no partitions.
    if (mesh_.axes.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a collective lists devices of the module's own mesh outside of any manual region", kLowerAgain));
    }
    if (!one_replica_) {
      return absl::InvalidArgumentError(
          absl::StrCat("a collective of a manual region joins replicas", kLowerAgain));
    }
    if (mesh_.NumDevices() > kMaxDevices) {
      return absl::InvalidArgumentError(
          absl::StrCat("a mesh of ", mesh_.NumDevices(), " devices; there can be ", kMaxDevices));
    }
    SdyMesh after;
    for (const SdyMesh::Axis& axis : mesh_.axes)
      after.axes.push_back({axis.name, size_of_(axis.name, axis.size)});
    absl::StatusOr<xla::HloInstructionProto> groups = GroupsOnMesh(*instruction, mesh_, after);
    if (!groups.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a collective of a manual region does not fit: ", groups.status().message(), kLowerAgain));
    }
    out->push_back({instruction, *std::move(groups)});
    return absl::OkStatus();
  }

  const Module& module_;
  const SdyMeshes& meshes_;
  NewAxisSize size_of_;
  const bool one_replica_;
  SdyMesh mesh_;  // Of the regions; without axes if there is none.
};

}  // namespace

absl::StatusOr<std::vector<RegionGroups>> RegionsOnMesh(const Module& module, const SdyMeshes& meshes,
                                                        NewAxisSize size_of) {
  return Regions(module, meshes, size_of).Read();
}

}  // namespace toroid
