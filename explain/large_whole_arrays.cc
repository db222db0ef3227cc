#include "explain/large_whole_arrays.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "explain/names.h"
#include "hlo/analysis/source_frames.h"
#include "hlo/base/text_table.h"
#include "partitioner/provenance/program_names.h"

namespace toroid {
namespace {

constexpr size_t kMostLines = 3;
constexpr int64_t kLeastBytes = 1 << 20, kLeastShare = 16;

// By tensor: whether each device makes what it needs of it by itself.
std::vector<bool> FreeTensors(const PreparedProgram& program, const ShardingPlan& plan) {
  const FlowGraph& graph = *program.graph;
  std::vector<bool> free(graph.num_tensors(), false);
  for (const Instruction* instruction : graph.ReachedInstructions(*program.flat)) {
    const FlowOp* op = graph.OpOf(*instruction);
    if (op == nullptr) continue;
    const bool is_free = IsMadeAnywhere(
        graph, *op, [&](int t) { return static_cast<bool>(free[t]); },
        [&](int t) { return plan[t].DimAxes() == 0; });
    for (const int t : op->results) free[t] = is_free;
  }
  return free;
}

// The largest whole arrays of one line whose names differ by numbers alone.
struct Line {
  int64_t bytes = 0;  // Of one array.
  std::string kind;   // The name without numbers.
  std::vector<ExplainedNote> notes;
  int64_t Total() const { return bytes * static_cast<int64_t>(notes.size()); }
};

}  // namespace

std::vector<ExplainedNote> LargeWholeArrays(const Partitioned& partitioned) {
  if (partitioned.program == nullptr || partitioned.program->annotations.mesh.num_devices() == 1) return {};
  const PreparedProgram& program = *partitioned.program;
  const FlowGraph& graph = *program.graph;
  const ProgramNames names(*program.flat, graph, program.annotations, program.relabeled);
  SourceFrames frames(*program.flat);
  const std::vector<bool> free = FreeTensors(program, partitioned.shardings);
  absl::flat_hash_set<int> seen;
  int64_t largest = 0;
  std::vector<std::pair<int, const Instruction*>> whole;  // Tensors and what makes them.
  for (const Instruction* op : graph.ReachedInstructions(*program.flat)) {
    for (const int t : graph.Leaves(*op)) {
      const Shape& shape = graph.shape(t);
      if (!shape.IsArray() || !seen.insert(t).second || free[t]) continue;
      const int64_t bytes = ArrayBytes(shape);
      largest = std::max(largest, bytes / program.annotations.mesh.Product(program.annotations.mesh.InOrder(
                                              partitioned.shardings[t].DimAxes())));
      const bool is_whole = partitioned.shardings[t].DimAxes() == 0 && program.annotations.manual[t] == 0;
      if (is_whole && bytes >= kLeastBytes) whole.push_back({t, op});
    }
  }
  std::map<std::string, Line> lines;  // By source; those without one by name.
  for (const auto& [t, op] : whole) {
    const int64_t bytes = ArrayBytes(graph.shape(t));
    if (bytes < largest / kLeastShare) continue;
    const std::string source = frames.LineOf(op->metadata()), name = names.NameOf(*op);
    Line& line = lines[source.empty() ? WithoutNumbers(name) : source];
    if (bytes > line.bytes) line = {bytes, WithoutNumbers(name)};
    if (bytes < line.bytes || WithoutNumbers(name) != line.kind) continue;
    ExplainedNote note = {"whole", absl::StrCat(graph.shape(t).ToString(), " ", BytesText(bytes)),
                          program.annotations.tensor[t] ? "the module asks for it" : "no annotation cuts it",
                          source};
    note.names = {name};
    note.name = name;
    line.notes.push_back(std::move(note));
  }
  std::vector<const Line*> order;
  for (const auto& [source, line] : lines) order.push_back(&line);
  std::stable_sort(order.begin(), order.end(),
                   [](const Line* a, const Line* b) { return a->Total() > b->Total(); });
  if (order.size() > kMostLines) order.resize(kMostLines);
  std::vector<ExplainedNote> notes;
  for (const Line* line : order) notes.insert(notes.end(), line->notes.begin(), line->notes.end());
  return notes;
}

}  // namespace toroid
