#include "partitioner/sharding_search/program_state.h"

#include <algorithm>

namespace toroid {
namespace {

// Before the state, a step returns a few values of its own, such as a loss.
constexpr size_t kMostBeforeState = 8;

// Number of leaf `index` of a shape; -1 if it has none.
int LeafAt(const Shape& shape, absl::Span<const int64_t> index) {
  const Shape* at = &shape;
  int64_t leaf = 0;
  for (const int64_t i : index) {
    if (!at->IsTuple() || i < 0 || i >= static_cast<int64_t>(at->tuple_shapes().size())) return -1;
    for (int64_t before = 0; before < i; ++before) leaf += at->tuple_shapes()[before].NumLeaves();
    at = &at->tuple_shapes()[i];
  }
  return at->IsArray() ? static_cast<int>(leaf) : -1;
}

}  // namespace

ProgramState LongestStateRun(const PreparedProgram& program,
                             absl::FunctionRef<bool(int argument, int output)> is_same) {
  const auto outputs = program.graph->outputs();
  std::vector<int> arguments;
  for (const Instruction* parameter : program.flat->entry()->parameters()) {
    for (const int leaf : program.graph->Leaves(*parameter)) arguments.push_back(leaf);
  }
  const auto run_at = [&](size_t argument, size_t output) {
    size_t n = 0;
    while (argument + n < arguments.size() && output + n < outputs.size() &&
           is_same(arguments[argument + n], outputs[output + n]))
      ++n;
    return n;
  };
  size_t from = 0, to = 0, length = 0;
  for (size_t argument = 0; argument < arguments.size(); ++argument) {
    if (arguments.size() - argument <= length) break;  // No run from here on is longer.
    for (size_t output = 0; output < std::min(outputs.size(), kMostBeforeState); ++output) {
      // The rest of a run that was looked at.
      if (argument > 0 && output > 0 && is_same(arguments[argument - 1], outputs[output - 1])) continue;
      const size_t n = run_at(argument, output);
      if (n > length && (argument == 0 || n > 1)) from = argument, to = output, length = n;
    }
  }
  ProgramState state;
  for (size_t i = 0; i < length; ++i) state.push_back({arguments[from + i], outputs[to + i]});
  return state;
}

ProgramState DonatedState(const PreparedProgram& program) {
  const FlowGraph& graph = *program.graph;
  const Computation& entry = *program.flat->entry();
  ProgramState state;
  for (const auto& alias : program.flat->proto().input_output_alias().entries()) {
    const int64_t parameter = alias.parameter_number();
    if (parameter < 0 || parameter >= entry.num_parameters()) continue;
    const Instruction& argument = *entry.parameter(parameter);
    const int from = LeafAt(argument.shape(), alias.parameter_shape_index());
    const int to = LeafAt(entry.root()->shape(), alias.output_shape_index());
    if (from < 0 || to < 0) continue;
    state.push_back({graph.Leaves(argument)[from], graph.outputs()[to]});
  }
  return state;
}

ProgramState StateOf(const PreparedProgram& program) {
  const FlowGraph& graph = *program.graph;
  ProgramState state = DonatedState(program);
  if (!state.empty()) return state;
  return LongestStateRun(program, [&](int argument, int output) {
    return graph.shape(argument).Compatible(graph.shape(output));
  });
}

}  // namespace toroid
