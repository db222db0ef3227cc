#include "simulator/cost/predict_times.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "hlo/ir/edit.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

constexpr char kTag[] = "op";

// A copy in which names tell instructions apart: of a program that was just made many have none, and lowering keeps those of
// collectives. Instruction k of all has the name op<k>.
std::unique_ptr<Module> Tagged(const Module& program, std::vector<const Instruction*>* ops) {
  std::unique_ptr<Module> copy = CloneModule(program);
  for (const auto& computation : program.computations()) {
    for (const auto& op : computation->instructions()) {
      copy->computation(computation->index())
          ->instruction(op->index())
          ->set_name(absl::StrCat(kTag, ops->size()));
      ops->push_back(op.get());
    }
  }
  return copy;
}

// Null if the name, behind the computation's where that is given, is no tag.
const Instruction* TaggedOp(absl::string_view name, const std::vector<const Instruction*>& ops) {
  const size_t slash = name.rfind('/');
  if (slash != absl::string_view::npos) name.remove_prefix(slash + 1);
  size_t k = 0;
  if (!absl::ConsumePrefix(&name, kTag) || !absl::SimpleAtoi(name, &k) || k >= ops.size()) return nullptr;
  // An array of a merged collective, which lowering splits.
  return ops[k]->opcode() == Opcode::kGetTupleElement ? ops[k]->operand(0) : ops[k];
}

// What a collective of the lowered program stands for.
struct Part {
  const Instruction* op;
  double bytes;
};

// Of those that stand for several, by the first of them, whose name they have: the others' names are on their results.
absl::flat_hash_map<const Instruction*, std::vector<Part>> PartsOfCombined(
    const Module& lowered, const std::vector<const Instruction*>& ops) {
  absl::flat_hash_map<const Instruction*, std::vector<Part>> parts;
  for (const auto& computation : lowered.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() != Opcode::kGetTupleElement || op->operand(0)->opcode() != Opcode::kAllReduce)
        continue;
      const Instruction* all = TaggedOp(op->operand(0)->name(), ops);
      const Instruction* part = op->attrs().tuple_index() == 0 ? all : TaggedOp(op->name(), ops);
      // One with several results of its own is one.
      if (all == nullptr || part == nullptr || part->opcode() != Opcode::kAllReduce) continue;
      parts[all].push_back({part, static_cast<double>(ArrayBytes(op->shape()))});
    }
  }
  return parts;
}

}  // namespace

absl::StatusOr<PredictedTimes> PredictTimes(const Module& program, const Machine& machine) {
  std::vector<const Instruction*> ops;
  const std::unique_ptr<Module> tagged = Tagged(program, &ops);
  SimulationOptions options;
  options.machine = machine;
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(*tagged, options));
  const auto parts = PartsOfCombined(*simulation.lowered, ops);
  PredictedTimes times;
  times.machine = simulation.prediction.machine;
  times.step_seconds = SecondsOf(simulation.prediction.step_ps);
  for (const PredictedCollective& collective : simulation.prediction.collectives) {
    const double seconds = SecondsOf(collective.picoseconds) * collective.executions;
    times.collective_seconds += seconds;
    const Instruction* op = TaggedOp(collective.instruction, ops);
    if (op == nullptr) continue;  // Lowering made it.
    const auto found = parts.find(op);
    double bytes = 0;
    if (found != parts.end()) {
      for (const Part& part : found->second) bytes += part.bytes;
    }
    if (bytes == 0) {
      times.of_collective[op] += seconds;
      continue;
    }
    for (const Part& part : found->second) times.of_collective[part.op] += seconds * part.bytes / bytes;
  }
  return times;
}

}  // namespace toroid
