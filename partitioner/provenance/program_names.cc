#include "partitioner/provenance/program_names.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/analysis/author_names.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/analysis/output_names.h"
#include "hlo/ir/parameter_name.h"
#include "partitioner/provenance/named_axes.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {
namespace {

constexpr int kNoTensor = -1;
constexpr int kSeveral = -2;

// Whether the result holds only elements of operand 0, perhaps converted, moved or sliced.
bool HoldsElementsOfOperand(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConvert:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kBitcast:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kReducePrecision:
      return true;
    default:
      return false;
  }
}

// By output: the entry parameter whose memory it takes. Read from the module's aliases. If it has no aliases
// but donated parameters, they are matched with the outputs if exactly one run of outputs has the parameters'
// shapes in their order (the state that a training step returns).
absl::flat_hash_map<int, const Instruction*> ParametersReplaced(const Module& module) {
  absl::flat_hash_map<int, const Instruction*> replaced;
  const Computation& entry = *module.entry();
  const Shape& result = entry.root()->shape();
  const auto parameter = [&](int64_t number) -> const Instruction* {
    return number < 0 || number >= entry.num_parameters() ? nullptr : entry.parameter(number);
  };
  for (const auto& alias : module.proto().input_output_alias().entries()) {
    if (alias.output_shape_index_size() != (result.IsTuple() ? 1 : 0)) continue;
    const int64_t output = result.IsTuple() ? alias.output_shape_index(0) : 0;
    if (const Instruction* p = parameter(alias.parameter_number()))
      replaced.emplace(static_cast<int>(output), p);
  }
  std::vector<const Instruction*> donors;
  for (const auto& donor : module.proto().buffer_donor().entries()) {
    const Instruction* p = parameter(donor.parameter_number());
    if (p != nullptr && donor.parameter_shape_index_size() == 0) donors.push_back(p);
  }
  if (donors.empty() || !replaced.empty() || !result.IsTuple()) return replaced;
  const auto outputs = result.tuple_shapes();
  const auto same = [](const Shape& shape, const Instruction* p) { return shape.Compatible(p->shape()); };
  const auto begin = std::search(outputs.begin(), outputs.end(), donors.begin(), donors.end(), same);
  if (begin == outputs.end() ||
      std::search(begin + 1, outputs.end(), donors.begin(), donors.end(), same) != outputs.end()) {
    return replaced;
  }
  for (size_t i = 0; i < donors.size(); ++i) {
    replaced.emplace(static_cast<int>(begin - outputs.begin() + static_cast<int64_t>(i)), donors[i]);
  }
  return replaced;
}

}  // namespace

ProgramNames::ProgramNames(const Module& module, const FlowGraph& graph, const Annotations& annotations,
                           bool relabeled)
    : mesh_(annotations.mesh) {
  TakeAxes(module, annotations.mesh, relabeled);
  if (axes_.empty()) MakeAxes(annotations);
  NameOutputs(module);
  FollowParameters(module, graph);
}

bool ProgramNames::SetAxes(const Mesh& mesh, absl::Span<const std::pair<std::string, int64_t>> named) {
  axes_.clear();
  int64_t stride = mesh.num_devices();
  for (const auto& [name, size] : named) {
    if (size < 1 || stride % size != 0) return false;
    stride /= size;
    if (size == 1) continue;
    const std::optional<AxisList> axes = mesh.AxesOfPart(size, stride);
    if (!axes) return false;
    axes_.push_back({name, *axes});
  }
  return stride == 1;
}

void ProgramNames::TakeAxes(const Module& module, const Mesh& mesh, bool relabeled) {
  NamedAxes named = ShardyAxes(module, mesh.num_devices(), relabeled ? nullptr : &mesh.order());
  if (named.empty() && (IsInDeviceOrder(mesh) || relabeled)) named = GspmdAxes(module, mesh.num_devices());
  for (auto& [name, size] : named) name = absl::StrCat("\"", name, "\"");
  if (!SetAxes(mesh, named)) axes_.clear();
}

// Each axis is a longest run of mesh axes, major to minor, of which every annotation takes all or none.
void ProgramNames::MakeAxes(const Annotations& annotations) {
  const int n = mesh_.num_axes();
  std::vector<bool> begins(n + 1, false);
  const auto cut = [&](const AxisList& axes) {
    for (int i = 0; i < axes.size(); ++i) {
      if (i == 0 || axes[i] != axes[i - 1] + 1) begins[axes[i]] = true;
      if (i + 1 == axes.size() || axes[i + 1] != axes[i] + 1) begins[axes[i] + 1] = true;
    }
  };
  for (const auto& annotation : annotations.tensor) {
    if (!annotation) continue;
    for (const AxisList& dim : annotation->sharding.dims) cut(dim);
    cut(mesh_.InOrder(annotation->sharding.partial));
    cut(mesh_.InOrder(annotation->sharding.manual));
  }
  for (const AxisSet manual : annotations.manual) cut(mesh_.InOrder(manual));
  made_up_ = true;
  for (int axis = 0; axis < n; ++axis) {
    if (axis == 0 || begins[axis]) axes_.emplace_back();
    axes_.back().axes.push_back(axis);
  }
  for (size_t i = 0; i < axes_.size(); ++i) {
    axes_[i].name =
        absl::StrCat(std::string(1, static_cast<char>('a' + i % 26)), mesh_.Product(axes_[i].axes));
  }
}

void ProgramNames::NameOutputs(const Module& module) {
  const Instruction& root = *module.entry()->root();
  const bool tuple = root.shape().IsTuple();
  const int count = tuple ? static_cast<int>(root.shape().tuple_shapes().size()) : 1;
  // With nested tuples, outputs are numbered by leaf (OutputName).
  if (count != root.shape().NumLeaves()) return;
  const absl::flat_hash_map<int, const Instruction*> replaced = ParametersReplaced(module);
  for (int i = 0; i < count; ++i) {
    // Walk from the output through the Sharding calls that annotate it to the op that makes it.
    const Instruction* value = !tuple ? &root : root.opcode() == Opcode::kTuple ? root.operand(i) : nullptr;
    const std::string info = value == nullptr ? "" : ResultInfo(*value);
    std::vector<const Instruction*> identities;
    while (value != nullptr) {
      if (!IsShardingAnnotation(*value) || value->num_operands() != 1) break;
      identities.push_back(value);
      value = value->operand(0);
    }
    std::string name = tuple ? absl::StrCat("output{", i, "}") : "output";
    if (!info.empty()) {
      name = info;
    } else if (const auto it = replaced.find(i); it != replaced.end()) {
      absl::StrAppend(&name, " in place of ", ParameterName(*it->second));
    }
    for (const Instruction* identity : identities) names_.emplace(identity, name);
    if (value != nullptr && value->opcode() != Opcode::kParameter && value != &root)
      output_of_.emplace(value, name);
    outputs_.push_back(std::move(name));
  }
}

void ProgramNames::FollowParameters(const Module& module, const FlowGraph& graph) {
  from_.assign(graph.num_tensors(), kNoTensor);
  const auto flows = [&](int from, int to) {
    if (from == to || from_[to] == from) return;
    from_[to] = from_[to] == kNoTensor ? from : kSeveral;
  };
  for (const FlowOp& op : graph.ops()) {
    if (op.operands.empty() || op.results.size() != 1) continue;
    const bool hands_on = op.instruction == nullptr || HoldsElementsOfOperand(op.instruction->opcode()) ||
                          HandsLeavesOn(*op.instruction);
    flows(hands_on ? op.operands[0] : kSeveral, op.results[0]);
  }
  for (const Instruction* parameter : module.entry()->parameters()) {
    for (const int leaf : graph.Leaves(*parameter)) parameter_.emplace(leaf, parameter);
  }
}

std::string ProgramNames::ParameterBehind(int tensor) const {
  for (int hops = 0; tensor >= 0 && hops < 64; ++hops) {
    const auto it = parameter_.find(tensor);
    if (it != parameter_.end()) return ParameterName(*it->second);
    tensor = from_[tensor];
  }
  return "";
}

std::string ProgramNames::NameOf(const Instruction& instruction) const {
  const auto it = names_.find(&instruction);
  if (it != names_.end()) return it->second;
  if (instruction.opcode() == Opcode::kParameter && instruction.metadata() != nullptr) {
    return ParameterName(instruction);
  }
  std::string name = InAuthorScopes(
      instruction, instruction.name().empty() ? instruction.opcode_name() : instruction.name());
  const auto output = output_of_.find(&instruction);
  if (output != output_of_.end()) absl::StrAppend(&name, " for ", output->second);
  return name;
}

std::string ProgramNames::OutputName(int i) const {
  return i < static_cast<int>(outputs_.size()) ? outputs_[i] : absl::StrCat("output leaf ", i);
}

std::string ProgramNames::Text(const AxisList& axes) const {
  std::vector<std::string> names;
  for (int i = 0; i < axes.size();) {
    int run = 0;
    for (const Axis& axis : axes_) {
      const auto at = std::find(axis.axes.begin(), axis.axes.end(), axes[i]);
      if (at == axis.axes.end()) continue;
      const int begin = static_cast<int>(at - axis.axes.begin());
      while (i + run < axes.size() && begin + run < axis.axes.size() &&
             axis.axes[begin + run] == axes[i + run]) {
        ++run;
      }
      std::string name = axis.name;
      if (run < axis.axes.size()) {
        absl::StrAppend(&name, ":(", mesh_.Product(axis.axes.Prefix(begin)), ")",
                        mesh_.Product(axes.Suffix(i).Prefix(run)));
      }
      names.push_back(std::move(name));
      break;
    }
    i += std::max(run, 1);
  }
  return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
}

std::string ProgramNames::Text(const Sharding& sharding) const {
  std::vector<std::string> dims;
  for (const AxisList& dim : sharding.dims) dims.push_back(Text(dim));
  std::string out;
  if (sharding.DimAxes() != 0 || sharding.partial == 0)
    absl::StrAppend(&out, "[", absl::StrJoin(dims, ", "), "]");
  if (sharding.partial == 0) return out;
  static constexpr const char* kReducers[] = {"", "product ", "maximum ", "minimum ", "and ", "or "};
  absl::StrAppend(&out, out.empty() ? "" : " ", "partial ", kReducers[static_cast<int>(sharding.reducer)],
                  "over ", Text(mesh_.InOrder(sharding.partial)));
  return out;
}

std::vector<AxisList> ProgramNames::Axes() const {
  std::vector<AxisList> axes;
  for (const Axis& axis : axes_) axes.push_back(axis.axes);
  return axes;
}

std::string ProgramNames::MadeUpAxes() const {
  if (!made_up_) return "";
  return absl::StrJoin(axes_, ", ", [](std::string* out, const Axis& axis) { *out += axis.name; });
}

}  // namespace toroid
