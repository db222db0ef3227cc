#include "benchmarks/strategy_runs.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

#include "hlo/analysis/collective.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/analysis/work.h"
#include "hlo/base/status.h"
#include "hlo/cost/cost_model.h"
#include "partitioner/search/strategies.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {
namespace {

absl::StatusOr<ProgramCost> CostWith(const Module& module, const std::vector<std::string>& strategies) {
  PartitionOptions options;
  options.strategies = strategies;
  options.states_plan = true;
  const std::clock_t start = std::clock();
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(module, options));
  const std::clock_t end = std::clock();
  if (partitioned.num_partitions == 1) return absl::InvalidArgumentError("a program of one device");
  const WholeRun run = WorkOfWholeRun(*partitioned.module);
  ProgramCost cost;
  cost.sent_bytes = run.sent_bytes;
  cost.flops = run.flops;
  cost.written_bytes = run.made_bytes;
  cost.seconds = PredictedSeconds(*partitioned.module);
  cost.plan = partitioned.plan;
  cost.made_in = static_cast<double>(end - start) / CLOCKS_PER_SEC;
  return cost;
}

}  // namespace

std::vector<std::string> StrategyNames() {
  std::vector<std::string> names;
  for (const Strategy& strategy : Strategies()) names.emplace_back(strategy.name);
  names.emplace_back(kForms);
  return names;
}

absl::StatusOr<StrategyRuns> RunStrategies(const std::string& program, const Module& module) {
  StrategyRuns runs;
  runs.program = program;
  const std::vector<std::string> names = StrategyNames();
  ASSIGN_OR_RETURN(runs.all, CostWith(module, names));
  ASSIGN_OR_RETURN(runs.first, CostWith(module, {}));
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<std::string> others = names;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    ASSIGN_OR_RETURN(ProgramCost without, CostWith(module, others));
    ASSIGN_OR_RETURN(ProgramCost alone, CostWith(module, {names[i]}));
    runs.without.push_back(std::move(without));
    runs.alone.push_back(std::move(alone));
  }
  return runs;
}

double PredictedSeconds(const Module& module) {
  const CostModel& model = DefaultCostModel();
  const DeviceCounts counts = DeviceCountsOf(module);
  const std::vector<Executions> executions = CountExecutions(module);
  double time = 0;
  for (const auto& computation : module.computations()) {
    const double times = static_cast<double>(executions[computation->index()].times);
    for (const auto& instruction : computation->instructions()) {
      const std::optional<Collective> collective = CollectiveOf(*instruction, counts);
      if (collective) {
        const int64_t group = std::max<int64_t>(1, collective->group_size);
        time += times * static_cast<double>(SentBytes(collective->kind, collective->operand_bytes, group));
      } else {
        time += times * model.OpTime(WorkOf(*instruction));
      }
    }
  }
  return time * model.SecondsPerLinkByte();
}

}  // namespace toroid
