#include "partitioner/propagation/manual_regions.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "partitioner/propagation/stated_shardings.h"

namespace toroid {
namespace {

absl::Status InAnotherOrder(const HloSharding& sharding) {
  return absl::UnimplementedError(
      absl::StrCat("the sharding ", sharding.ToString(),
                   " at the boundary of a manual region has devices in another order than the mesh"));
}

class Reader {
 public:
  Reader(const Module& module, const FlowGraph& graph, const SdyMeshes& meshes, Annotations* annotations)
      : module_(module), graph_(graph), meshes_(meshes), out_(*annotations) {}

  absl::Status Read() {
    RETURN_IF_ERROR(ReadBoundaries());
    SpreadManual();
    return CheckManual();
  }

 private:
  absl::Status ReadBoundaries() {
    for (const Instruction* instruction : graph_.ReachedInstructions(module_)) {
      if (instruction->opcode() != Opcode::kCustomCall) continue;
      RETURN_IF_ERROR(Annotate(ReadBoundary(*instruction), instruction->Path()));
    }
    return absl::OkStatus();
  }

  absl::Status ReadBoundary(const Instruction& instruction) {
    const absl::string_view target = instruction.custom_call_target();
    ManualBoundary boundary;
    if (target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape") {
      boundary.enters = target == "SPMDFullToShardShape";
      RETURN_IF_ERROR(ReadOrdinaryBoundary(instruction, &boundary));
    } else if (target == "xla.sdy.GlobalToLocalShape" || target == "xla.sdy.LocalToGlobalShape") {
      boundary.enters = target == "xla.sdy.GlobalToLocalShape";
      RETURN_IF_ERROR(ReadShardyBoundary(instruction, &boundary));
    } else {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(CheckLocalShapes(instruction, boundary));
    out_.boundaries.emplace(&instruction, std::move(boundary));
    return absl::OkStatus();
  }

  // SPMDFullToShardShape and SPMDShardToFullShape. The local value's sharding names the manual axes (all axes
  // if it names none); the global value's sharding gives its tiles.
  absl::Status ReadOrdinaryBoundary(const Instruction& instruction, ManualBoundary* boundary) const {
    if (instruction.num_operands() != 1 || !instruction.shape().IsArray() ||
        !instruction.operand(0)->shape().IsArray()) {
      return absl::InvalidArgumentError("takes one array and gives one");
    }
    const int operand = graph_.Leaves(*instruction.operand(0))[0], result = graph_.Leaves(instruction)[0];
    const int local = boundary->enters ? result : operand, global = boundary->enters ? operand : result;
    const std::optional<Annotation>& local_annotation = out_.tensor[local];
    boundary->manual = local_annotation && local_annotation->sharding.manual != 0
                           ? local_annotation->sharding.manual
                           : out_.mesh.AllAxes();
    const int rank = graph_.shape(global).rank();
    if (boundary->enters && out_.tensor[global] && out_.tensor[global]->foreign) {
      return InAnotherOrder(*out_.tensor[global]->foreign);
    }
    Sharding full = out_.tensor[global] ? out_.tensor[global]->sharding : Sharding::Replicated(rank);
    if (!boundary->enters && instruction.sharding() != nullptr) {
      // Read the call's own sharding: if the call is the root, its sharding was recorded for the output
      // tensor, not for the call's result.
      ASSIGN_OR_RETURN(const HloSharding own, HloSharding::FromProto(*instruction.sharding()));
      RETURN_IF_ERROR(own.Validate(graph_.shape(global)));
      const std::optional<Sharding> on_mesh = out_.mesh.FromHlo(own, rank);
      if (!on_mesh) return InAnotherOrder(own);
      full = *on_mesh;
    }
    boundary->global.push_back(std::move(full));
    return absl::OkStatus();
  }

  // GlobalToLocalShape and LocalToGlobalShape. Attributes name the manual axes and the sharding of each
  // global value. Local values, and global results, that have no annotation yet take theirs from it.
  absl::Status ReadShardyBoundary(const Instruction& instruction, ManualBoundary* boundary) {
    const std::string* axes = instruction.FrontendAttribute("xla.sdy.manual_axes");
    const std::string* text =
        instruction.FrontendAttribute(boundary->enters ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings");
    if (axes == nullptr || text == nullptr)
      return absl::InvalidArgumentError("lacks its shardings or manual axes");
    ASSIGN_OR_RETURN(const auto names, ParseSdyManualAxes(*axes));
    ASSIGN_OR_RETURN(const auto shardings, ParseSdyShardings(*text, meshes_));
    const auto results = graph_.Leaves(instruction);
    std::vector<int> globals = graph_.OperandLeaves(instruction), locals(results.begin(), results.end());
    if (!boundary->enters) std::swap(globals, locals);
    if (shardings.size() != globals.size() || locals.size() != globals.size()) {
      return absl::InvalidArgumentError("has another number of shardings than values");
    }
    for (size_t i = 0; i < shardings.size(); ++i) {
      ASSIGN_OR_RETURN(const StatedSharding stated, FromShardy(shardings[i]));
      RETURN_IF_ERROR(stated.sharding.Validate(graph_.shape(globals[i])));
      ASSIGN_OR_RETURN(Annotation annotation, OnMesh(stated, out_.mesh, graph_.shape(globals[i]).rank()));
      if (annotation.foreign) return InAnotherOrder(*annotation.foreign);
      for (const std::string& name : names)
        boundary->manual |= AxesOnMesh(stated.mesh, {name}, out_.mesh).Set();
      boundary->global.push_back(annotation.sharding);
      if (!boundary->enters && !out_.tensor[globals[i]]) out_.tensor[globals[i]] = annotation;
      // Inside, only the free axes of the sharding remain.
      for (AxisList& dim : annotation.sharding.dims) dim = dim.Only(~boundary->manual);
      annotation.sharding.manual = boundary->manual;
      if (!out_.tensor[locals[i]]) out_.tensor[locals[i]] = annotation;
    }
    return absl::OkStatus();
  }

  // Checks that each local size is the global size divided by the number of manual tiles.
  absl::Status CheckLocalShapes(const Instruction& instruction, const ManualBoundary& boundary) const {
    for (const CrossingValue& crossing : CrossingValues(graph_, instruction, boundary)) {
      const Shape &global = graph_.shape(crossing.global), &local = graph_.shape(crossing.local);
      const Dims expected = out_.mesh.ShardDims(global.dims(), {crossing.manual});
      if (local.rank() == global.rank() && absl::MakeConstSpan(expected) == local.dims()) continue;
      return absl::InvalidArgumentError(absl::StrCat("the sharding cuts ", global.ToString(), " into ",
                                                     Shape(global.element_type(), expected).ToString(),
                                                     ", not ", local.ToString()));
    }
    return absl::OkStatus();
  }

  // Marks every value computed from local values as local with respect to the same axes.
  void SpreadManual() {
    out_.manual.assign(graph_.num_tensors(), 0);
    std::vector<int> changed;
    const auto add = [&](int tensor, AxisSet axes) {
      if ((axes & ~out_.manual[tensor]) == 0) return;
      out_.manual[tensor] |= axes;
      changed.push_back(tensor);
    };
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (out_.tensor[t]) add(t, out_.tensor[t]->sharding.manual);
    }
    for (const auto& [instruction, boundary] : out_.boundaries) {
      if (!boundary.enters) continue;
      for (const int leaf : graph_.Leaves(*instruction)) add(leaf, boundary.manual);
    }
    if (changed.empty()) return;
    std::vector<std::vector<int>> users(graph_.num_tensors());
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      for (const int operand : graph_.ops()[i].operands) users[operand].push_back(static_cast<int>(i));
    }
    // Each visit of a tensor follows the addition of an axis, so a tensor is visited at most once per axis.
    while (!changed.empty()) {
      const int tensor = changed.back();
      changed.pop_back();
      for (const int user : users[tensor]) {
        const FlowOp& op = graph_.ops()[user];
        AxisSet axes = out_.manual[tensor];
        const auto boundary = out_.boundaries.find(op.instruction);
        if (boundary != out_.boundaries.end()) {
          if (boundary->second.enters) continue;
          axes &= ~boundary->second.manual;
        }
        for (const int result : op.results) add(result, axes);
      }
    }
  }

  // Checks that no annotation cuts a value over axes with respect to which it is local.
  absl::Status CheckManual() const {
    for (const Instruction* instruction : graph_.ReachedInstructions(module_)) {
      for (const int leaf : graph_.Leaves(*instruction)) {
        RETURN_IF_ERROR(Annotate(CheckManual(leaf), instruction->Path()));
      }
    }
    for (const int output : graph_.outputs()) {
      RETURN_IF_ERROR(Annotate(CheckManual(output), module_.entry()->root()->Path()));
    }
    return absl::OkStatus();
  }

  absl::Status CheckManual(int tensor) const {
    if (!out_.tensor[tensor] || (out_.tensor[tensor]->sharding.DimAxes() & out_.manual[tensor]) == 0) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "the sharding ", out_.mesh.ToHlo(out_.tensor[tensor]->sharding).ToString(),
        " cuts a value that is manual, local to each device already; shard it outside the manual region, or "
        "over axes that are not manual"));
  }

  const Module& module_;
  const FlowGraph& graph_;
  const SdyMeshes& meshes_;
  Annotations& out_;
};

}  // namespace

absl::Status ReadManualRegions(const Module& module, const FlowGraph& graph, const SdyMeshes& meshes,
                               Annotations* annotations) {
  return Reader(module, graph, meshes, annotations).Read();
}

AxisList CrossingValue::Matching(const Mesh& mesh, int dim, int64_t local_size, const AxisList& free) const {
  if (manual[dim].empty()) return free;
  AxisList matching;
  int64_t tiles = 1;
  for (const int axis : free) {
    tiles *= mesh.size(axis);
    if (local_size % tiles != 0) break;
    matching.push_back(axis);
  }
  return matching;
}

CrossingValue::Sides CrossingValue::SidesOf(const FlowGraph& graph, const Mesh& mesh, const Sharding& planned,
                                            AxisSet manual_outside) const {
  Sides sides = {planned, Sharding::Replicated(static_cast<int>(manual.size()))};
  for (size_t d = 0; d < manual.size(); ++d) {
    const int dim = static_cast<int>(d);
    sides.local.dims[d] = Matching(mesh, dim, graph.shape(local).dim(dim), planned.dims[d]);
    sides.global.dims[d] = manual[d];
    sides.global.dims[d].Append(sides.local.dims[d]);
  }
  sides.global.manual = manual_outside;
  return sides;
}

std::vector<CrossingValue> CrossingValues(const FlowGraph& graph, const Instruction& instruction,
                                          const ManualBoundary& boundary) {
  const std::vector<int> operands = graph.OperandLeaves(instruction);
  const auto results = graph.Leaves(instruction);
  std::vector<CrossingValue> crossings;
  for (size_t i = 0; i < boundary.global.size() && i < results.size() && i < operands.size(); ++i) {
    CrossingValue crossing;
    crossing.global = boundary.enters ? operands[i] : results[i];
    crossing.local = boundary.enters ? results[i] : operands[i];
    crossing.manual_axes = boundary.manual;
    for (const AxisList& dim : boundary.global[i].dims) crossing.manual.push_back(dim.Only(boundary.manual));
    crossings.push_back(std::move(crossing));
  }
  return crossings;
}

std::vector<CrossingValue> CrossingValues(const FlowGraph& graph, const Annotations& annotations) {
  std::vector<CrossingValue> crossings;
  if (annotations.boundaries.empty()) return crossings;
  for (const FlowOp& op : graph.ops()) {
    const auto boundary = annotations.boundaries.find(op.instruction);
    if (boundary == annotations.boundaries.end()) continue;
    for (CrossingValue& crossing : CrossingValues(graph, *op.instruction, boundary->second)) {
      crossings.push_back(std::move(crossing));
    }
  }
  return crossings;
}

}  // namespace toroid
