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

// `values`: the arrays whose shardings the attribute `key` lists.
absl::Status CheckShardings(const Instruction& instruction, const char* key,
                            const std::vector<const Shape*>& values, const SdyMeshes& meshes) {
  const std::string* text = instruction.FrontendAttribute(key);
  if (text == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<SdySharding> shardings, ParseSdyShardings(*text, meshes));
  // A callback without results has one sharding, which names the device that runs it. A get-tuple-element
  // carries a copy of its operand's attributes.
  if (values.empty() || instruction.opcode() == Opcode::kGetTupleElement) return absl::OkStatus();
  if (shardings.size() != values.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(key, " has ", shardings.size(), " shardings for ", values.size(), " values"));
  }
  for (size_t i = 0; i < shardings.size(); ++i) {
    // Over a mesh without axes the list of dimensions is empty whatever the rank.
    if (shardings[i].mesh.axes.empty() || !values[i]->IsArray()) continue;
    if (static_cast<int>(shardings[i].dims.size()) == values[i]->rank()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(key, " has ", shardings[i].dims.size(), " dimensions for ", values[i]->ToString()));
  }
  const std::string* manual = instruction.FrontendAttribute("xla.sdy.manual_axes");
  if (manual == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ParseSdyManualAxes(*manual));
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + i, names[i]) == names.begin() + i) continue;
    return absl::InvalidArgumentError(absl::StrCat("xla.sdy.manual_axes names \"", names[i], "\" twice"));
  }
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
  std::vector<const Shape*> operands, results, fed;
  for (const Instruction* operand : instruction.operands()) AppendLeaves(operand->shape(), &operands);
  AppendLeaves(instruction.shape(), &results);
  if (instruction.opcode() == Opcode::kOutfeed) AppendLeaves(instruction.operand(0)->shape(), &fed);
  RETURN_IF_ERROR(CheckStatedRule(instruction));
  // A ShardingGroup call joins its operand to a group and states no sharding.
  if (!IsCallTo(instruction, "xla.sdy.ShardingGroup")) {
    RETURN_IF_ERROR(CheckShardings(instruction, "xla.sdy.sharding", fed.empty() ? results : fed, meshes));
  }
  RETURN_IF_ERROR(CheckShardings(instruction, "xla.sdy.in_shardings", operands, meshes));
  return CheckShardings(instruction, "xla.sdy.out_shardings", results, meshes);
}

}  // namespace

absl::Status CheckShardyAttributes(const Module& module) {
  const auto& attributes = module.proto().frontend_attributes().map();
  // The module asks to import its ordinary (GSPMD) shardings into Shardy, so any Shardy attributes are out of
  // date.
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
