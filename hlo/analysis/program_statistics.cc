#include "hlo/analysis/program_statistics.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hlo/analysis/collective.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"
#include "hlo/ir/loop_over_parts.h"

namespace toroid {
namespace {

// False for an instruction whose result other instructions have written, such as a tuple, and for constants.
bool IsMade(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode();
  return !HasTrait(opcode, kNoStorage) && !HasTrait(opcode, kInPlace) && opcode != Opcode::kConditional &&
         opcode != Opcode::kConstant;
}

// By index of the computation: how often an instruction in it counts, which is the number of trips of the
// loops over parts around it.
std::vector<int64_t> Weights(const Module& module) {
  std::vector<int64_t> weights(module.num_computations(), 1);
  for (int c = module.num_computations() - 1; c >= 0; --c) {  // Callers come after their callees.
    for (const auto& instruction : module.computations()[c]->instructions()) {
      if (instruction->opcode() != Opcode::kWhile) continue;
      const bool is_made = instruction->FrontendAttribute(kLoopOverParts) != nullptr;
      for (const Computation* callee : instruction->called()) {
        weights[callee->index()] =
            is_made ? SaturatingMultiply(weights[c], TripCount(*instruction).value_or(1)) : weights[c];
      }
    }
  }
  return weights;
}

}  // namespace

ProgramStatistics ComputeStatistics(const Module& module) {
  ProgramStatistics statistics;
  const DeviceCounts counts = DeviceCountsOf(module);
  const std::vector<int64_t> weights = Weights(module);
  for (const auto& computation : module.computations()) {
    const int64_t times = weights[computation->index()];
    for (const auto& instruction : computation->instructions()) {
      statistics.flops =
          SaturatingAdd(statistics.flops, SaturatingMultiply(times, MatrixFlops(*instruction)));
      const std::optional<Collective> collective = CollectiveOf(*instruction, counts);
      if (!collective) continue;
      CollectiveTotals& totals = statistics.collectives[std::string(instruction->opcode_name())];
      totals.count += times;
      totals.unknown_groups += collective->group_size == 0;
      totals.operand_bytes =
          SaturatingAdd(totals.operand_bytes, SaturatingMultiply(times, collective->operand_bytes));
      totals.sent_bytes =
          SaturatingAdd(totals.sent_bytes, SaturatingMultiply(times, collective->sent_bytes()));
    }
  }
  const MemorySpaces spaces(module);
  const auto add = [&](const Instruction& op, bool host, int64_t* bytes) {
    *bytes = SaturatingAdd(*bytes, spaces.LeafBytesOn(host, op));
  };
  for (const Instruction* parameter : module.entry()->parameters()) {
    add(*parameter, false, &statistics.device.parameters);
    add(*parameter, true, &statistics.host.parameters);
  }
  add(*module.entry()->root(), false, &statistics.device.outputs);
  add(*module.entry()->root(), true, &statistics.host.outputs);
  statistics.device.peak = ComputeCompiledPeakMemory(module).bytes;
  statistics.host.peak = ComputeHostPeakMemory(module).bytes;
  statistics.host_traffic = ComputeHostTraffic(module, spaces);
  return statistics;
}

WholeRun WorkOfWholeRun(const Module& module) {
  WholeRun run;
  const DeviceCounts counts = DeviceCountsOf(module);
  const std::vector<Executions> executions = CountExecutions(module);
  for (const auto& computation : module.computations()) {
    const double times = static_cast<double>(executions[computation->index()].times);
    for (const auto& instruction : computation->instructions()) {
      run.flops += times * static_cast<double>(MatrixFlops(*instruction));
      if (IsMade(*instruction))
        run.made_bytes += times * static_cast<double>(ArrayBytes(instruction->shape()));
      const std::optional<Collective> collective = CollectiveOf(*instruction, counts);
      if (!collective) continue;
      run.sent_bytes += times * static_cast<double>(collective->sent_bytes());
      run.collectives += times;
    }
  }
  return run;
}

}  // namespace toroid
