#include "partitioner/propagation/crossing_values.h"

#include <utility>

namespace toroid {

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
  std::vector<int> operands;
  for (const Instruction* operand : instruction.operands()) {
    for (const int leaf : graph.Leaves(*operand)) operands.push_back(leaf);
  }
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
