#include "partitioner/propagation/check_shardy.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"
#include "hlo/io/sdy_sharding.h"
#include "partitioner/ops/stated_rule.h"

namespace toroid {
namespace {

bool HasAxis(const SdyMesh& mesh, const std::string& name) {
  return std::any_of(mesh.axes.begin(), mesh.axes.end(),
                     [&](const SdyMesh::Axis& axis) { return axis.name == name; });
}

// `values`: how many arrays the attribute speaks of.
absl::Status CheckShardings(const Instruction& instruction, const char* key, int64_t values,
                            const SdyMeshes& meshes) {
  const std::string* text = instruction.FrontendAttribute(key);
  if (text == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<SdySharding> shardings, ParseSdyShardings(*text, meshes));
  // A callback without results says with one sharding which device runs it; an element of a tuple carries what its maker
  // says.
  if (values > 0 && static_cast<int64_t>(shardings.size()) != values &&
      instruction.opcode() != Opcode::kGetTupleElement) {
    return absl::InvalidArgumentError(
        absl::StrCat(key, " has ", shardings.size(), " shardings for ", values, " values"));
  }
  const std::string* manual = instruction.FrontendAttribute("xla.sdy.manual_axes");
  if (manual == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ParseSdyManualAxes(*manual));
  for (const SdySharding& sharding : shardings) {
    for (const std::string& name : names) {
      if (HasAxis(sharding.mesh, name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("manual axis \"", name, "\" is not in the mesh of ", key));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckInstruction(const Instruction& instruction, const SdyMeshes& meshes) {
  int64_t operands = 0;
  for (const Instruction* operand : instruction.operands()) operands += operand->shape().NumLeaves();
  // A group's attribute is its number.
  if (!IsCallTo(instruction, "xla.sdy.ShardingGroup")) {
    const int64_t fed = instruction.opcode() == Opcode::kOutfeed ? instruction.operand(0)->shape().NumLeaves()
                                                                 : instruction.shape().NumLeaves();
    RETURN_IF_ERROR(CheckShardings(instruction, "xla.sdy.sharding", fed, meshes));
  }
  RETURN_IF_ERROR(CheckStatedRule(instruction));
  RETURN_IF_ERROR(CheckShardings(instruction, "xla.sdy.in_shardings", operands, meshes));
  return CheckShardings(instruction, "xla.sdy.out_shardings", instruction.shape().NumLeaves(), meshes);
}

}  // namespace

absl::Status CheckShardyAttributes(const Module& module) {
  const auto& attributes = module.proto().frontend_attributes().map();
  // Shardings of the other dialect, from which Shardy's are made: what is there is older.
  if (attributes.contains("xla.sdy.import_mhlo_shardings")) return absl::OkStatus();
  SdyMeshes meshes;
  if (const auto it = attributes.find("xla.sdy.meshes"); it != attributes.end()) {
    ASSIGN_OR_RETURN(meshes, ParseSdyMeshes(it->second));
  }
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->frontend_attributes() == nullptr) continue;
      RETURN_IF_ERROR(Annotate(CheckInstruction(*instruction, meshes), instruction->Path()));
    }
  }
  return absl::OkStatus();
}

}  // namespace toroid
