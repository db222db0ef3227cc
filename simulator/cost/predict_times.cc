#include "simulator/cost/predict_times.h"

#include <utility>
#include <vector>

#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/base/units.h"
#include "simulator/stages/simulate.h"

namespace toroid {
namespace {

// What a collective of the lowered program stands for: itself, or those whose names its results have kept.
struct Part {
  std::string path;
  double bytes = 0;
};

absl::flat_hash_map<std::string, std::vector<Part>> PartsOfCollectives(const Module& lowered) {
  absl::flat_hash_map<std::string, std::vector<Part>> parts;
  for (const auto& computation : lowered.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() != Opcode::kGetTupleElement || op->operand(0)->opcode() != Opcode::kAllReduce) continue;
      const Instruction& all = *op->operand(0);
      // The first result stands for the op itself.
      const std::string path = op->attrs().tuple_index() == 0 ? all.Path() : op->Path();
      parts[all.Path()].push_back({path, static_cast<double>(ArrayBytes(op->shape()))});
    }
  }
  return parts;
}

}  // namespace

absl::StatusOr<PredictedTimes> PredictTimes(const Module& program, const Machine& machine) {
  SimulationOptions options;
  options.machine = machine;
  ASSIGN_OR_RETURN(const Simulation simulation, Simulate(program, options));
  const absl::flat_hash_map<std::string, std::vector<Part>> parts = PartsOfCollectives(*simulation.lowered);
  PredictedTimes times;
  times.machine = simulation.prediction.machine;
  times.step_seconds = SecondsOf(simulation.prediction.step_ps);
  for (const PredictedCollective& collective : simulation.prediction.collectives) {
    const double seconds = SecondsOf(collective.picoseconds) * collective.executions;
    times.collective_seconds += seconds;
    const auto found = parts.find(collective.instruction);
    if (found == parts.end()) {
      times.of_collective[collective.instruction] += seconds;
      continue;
    }
    double bytes = 0;
    for (const Part& part : found->second) bytes += part.bytes;
    for (const Part& part : found->second) {
      times.of_collective[part.path] += bytes > 0 ? seconds * part.bytes / bytes : 0;
    }
  }
  return times;
}

}  // namespace toroid
