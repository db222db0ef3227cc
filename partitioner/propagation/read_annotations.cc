#include "partitioner/propagation/read_annotations.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/base/status.h"
#include "hlo/io/module_meshes.h"
#include "hlo/io/sdy_sharding.h"
#include "partitioner/ops/stated_rule.h"
#include "partitioner/propagation/manual_regions.h"
#include "partitioner/propagation/stated_shardings.h"

namespace toroid {
namespace {

// The number of devices: `asked` if not 0, else the number that shardings name, else the module's
// num_partitions. Compilers write the number of the shardings as num_partitions; programs written by hand often
// leave it out, which says 1.
absl::StatusOr<int64_t> NumDevices(const Module& module, const StatedShardings& stated, int64_t asked) {
  int64_t n = asked;
  if (n == 0) {
    const int64_t own = module.config().num_partitions;
    n = stated.num_devices != 0 ? stated.num_devices : own;
    if (own > 1 && own != n) {
      return absl::InvalidArgumentError(
          absl::StrCat("the module has num_partitions=", own, ", yet its shardings name ", n,
                       " devices; set num_partitions=", n, " to go by the shardings"));
    }
    if (n < 1 || n > kMaxDevices) {
      return absl::InvalidArgumentError(
          absl::StrCat("the module asks for ", n, " partitions; there can be 1 to ", kMaxDevices));
    }
  }
  if (stated.num_devices != 0 && stated.num_devices != n) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the module's shardings name ", stated.num_devices, " devices, not ", n, "; set num_partitions=",
        stated.num_devices, stated.meshes.empty() ? "" : ", or give the axes of its mesh other sizes"));
  }
  if (n > kMaxDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat("shardings over ", n, " devices; there can be ", kMaxDevices));
  }
  return n;
}

// The global tensors at GSPMD boundaries of manual regions. The shard a device holds of such a tensor is the
// array that it computes with inside, so the mesh must be able to express its sharding.
std::vector<int> ValuesAtBoundaries(const Module& module, const FlowGraph& graph) {
  std::vector<int> values;
  for (const Instruction* instruction : graph.ReachedInstructions(module)) {
    const bool enters = IsCallTo(*instruction, "SPMDFullToShardShape") && instruction->num_operands() == 1;
    if (!enters && !IsCallTo(*instruction, "SPMDShardToFullShape")) continue;
    const auto global = graph.Leaves(enters ? *instruction->operand(0) : *instruction);
    values.insert(values.end(), global.begin(), global.end());
  }
  return values;
}

// The device order of the mesh: the order that a Shardy mesh states; else the order of the first tiled
// sharding with manual or unreduced devices, or of a value at a boundary of a manual region; else the order
// of the first tiled sharding that the plain order 0, 1, 2, ... cannot express; else the plain order.
DeviceOrder OrderOf(const StatedShardings& stated, absl::Span<const int> at_boundaries, int64_t num_devices) {
  if (stated.order) return *stated.order;
  DeviceOrder plain(num_devices);
  const absl::flat_hash_set<int> boundary(at_boundaries.begin(), at_boundaries.end());
  for (const auto& [tensor, one] : stated.tensors) {
    if (!one.sharding.IsTiled() || (!HoldsOwnValues(one.sharding) && !boundary.contains(tensor))) continue;
    return CutsOf(one.sharding, plain).empty() ? one.sharding.order() : plain;
  }
  for (const auto& [tensor, one] : stated.tensors) {
    if (one.sharding.IsTiled() && CutsOf(one.sharding, plain).empty()) return one.sharding.order();
  }
  return plain;
}

// A mesh with an axis boundary wherever a sharding or an axis of a Shardy mesh cuts the devices.
Mesh MeshOf(const StatedShardings& stated, absl::Span<const int> at_boundaries, int64_t num_devices) {
  const DeviceOrder order = OrderOf(stated, at_boundaries, num_devices);
  std::vector<int64_t> cuts;
  const auto add = [&](const HloSharding& sharding) {
    for (const int64_t cut : CutsOf(sharding, order)) cuts.push_back(cut);
  };
  for (const auto& [tensor, one] : stated.tensors) add(one.sharding);
  for (const auto& [instruction, leaves] : stated.fed) {
    for (const StatedSharding& one : leaves) add(one.sharding);
  }
  for (const auto& [name, mesh] : stated.meshes) {
    int64_t stride = 1;
    if (mesh.NumDevices() != num_devices) continue;
    for (auto axis = mesh.axes.rbegin(); axis != mesh.axes.rend(); ++axis)
      cuts.push_back(stride *= axis->size);
  }
  return Mesh(num_devices, cuts, order);
}

// Fills in `annotations->device` and `fed`. Errors if a side effect names a device that does not exist, or if
// the mesh cannot express the sharding of an outfeed's data.
absl::Status PlaceSideEffects(const FlowGraph& graph, const StatedShardings& stated,
                              Annotations* annotations) {
  const Mesh& mesh = annotations->mesh;
  annotations->device = stated.device;
  for (const auto& [instruction, device] : stated.device) {
    if (device >= 0 && device < mesh.num_devices()) continue;
    return absl::InvalidArgumentError(absl::StrCat(instruction->Path(), ": is to run on device ", device,
                                                   " of ", mesh.num_devices(),
                                                   "; name one of them, or ask for more devices"));
  }
  for (const auto& [instruction, shardings] : stated.fed) {
    const auto leaves = graph.Leaves(*instruction->operand(0));
    std::vector<Sharding>& data = annotations->fed[instruction];
    for (size_t i = 0; i < leaves.size() && i < shardings.size(); ++i) {
      const absl::StatusOr<Annotation> annotation = OnMesh(shardings[i], mesh, graph.shape(leaves[i]).rank());
      if (!annotation.ok()) return Annotate(annotation.status(), instruction->Path());
      if (annotation->foreign) {
        return absl::UnimplementedError(absl::StrCat(instruction->Path(), ": the data of an outfeed, ",
                                                     shardings[i].sharding.ToString(),
                                                     ", lie on devices in an order of their own"));
      }
      data.push_back(annotation->sharding);
    }
  }
  return absl::OkStatus();
}

// The path of the instruction that makes a tensor; of the entry's root for output tensors.
std::string PlaceOf(const Module& module, const FlowGraph& graph, int tensor) {
  for (const Instruction* instruction : graph.ReachedInstructions(module)) {
    if (absl::c_linear_search(graph.Leaves(*instruction), tensor)) return instruction->Path();
  }
  return module.entry()->root()->Path();
}

// Checks that the devices that maximal shardings name exist.
absl::Status CheckMaximal(const Module& module, const FlowGraph& graph, const StatedShardings& stated,
                          int64_t num_devices) {
  for (const auto& [tensor, one] : stated.tensors) {
    const bool maximal = one.sharding.kind() == HloSharding::Kind::kMaximal;
    if (!maximal || one.sharding.maximal_device() < num_devices) continue;
    return absl::InvalidArgumentError(absl::StrCat(PlaceOf(module, graph, tensor), ": is to lie on device ",
                                                   one.sharding.maximal_device(), " of ", num_devices,
                                                   "; name one of them, or ask for more devices"));
  }
  return absl::OkStatus();
}

// Replicates arrays of dynamic size, since a tile might hold no valid element, and buffers, since a buffer is
// memory that an opaque call refers to.
void KeepReplicated(const FlowGraph& graph, Annotations* annotations) {
  for (int t = 0; t < graph.num_tensors(); ++t) {
    if (!graph.shape(t).IsDynamic() && !graph.shape(t).IsBuffer()) continue;
    std::optional<Annotation>& annotation = annotations->tensor[t];
    const bool cut = annotation && annotation->sharding.DimAxes() != 0;
    annotation = Annotation::Closed(Sharding::Replicated(graph.shape(t).rank()));
    annotation->overruled = cut;
  }
}

bool HasAxis(const SdyMesh& mesh, const std::string& name) {
  return absl::c_any_of(mesh.axes, [&](const SdyMesh::Axis& axis) { return axis.name == name; });
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

absl::StatusOr<Annotations> ReadAnnotations(const Module& module, const FlowGraph& graph,
                                            int64_t num_devices) {
  ASSIGN_OR_RETURN(const StatedShardings stated, ReadStatedShardings(module, graph));
  ASSIGN_OR_RETURN(num_devices, NumDevices(module, stated, num_devices));
  RETURN_IF_ERROR(CheckMaximal(module, graph, stated, num_devices));
  Annotations annotations;
  annotations.mesh = MeshOf(stated, ValuesAtBoundaries(module, graph), num_devices);
  RETURN_IF_ERROR(PlaceSideEffects(graph, stated, &annotations));
  annotations.tensor.resize(graph.num_tensors());
  for (const auto& [tensor, one] : stated.tensors) {
    ASSIGN_OR_RETURN(annotations.tensor[tensor], OnMesh(one, annotations.mesh, graph.shape(tensor).rank()));
  }
  KeepReplicated(graph, &annotations);
  RETURN_IF_ERROR(ReadManualRegions(module, graph, stated.meshes, &annotations));
  return annotations;
}

absl::Status CheckShardyAttributes(const Module& module) {
  const auto& attributes = module.proto().frontend_attributes().map();
  // The module asks to import its ordinary (GSPMD) shardings into Shardy, so any Shardy attributes are out of
  // date.
  if (attributes.contains("xla.sdy.import_mhlo_shardings")) return absl::OkStatus();
  ASSIGN_OR_RETURN(const SdyMeshes meshes, SdyMeshesOf(module));
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (instruction->frontend_attributes() == nullptr) continue;
      RETURN_IF_ERROR(Annotate(CheckInstruction(*instruction, meshes), instruction->Path()));
    }
  }
  return absl::OkStatus();
}

}  // namespace toroid
