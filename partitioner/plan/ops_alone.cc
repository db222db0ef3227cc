#include "partitioner/plan/ops_alone.h"

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/analysis/trip_count.h"
#include "partitioner/propagation/flow_problem.h"

namespace toroid {

double BytesOfOpsAlone(const ShardingPlan& shardings, PlanMemo* memo) {
  const PreparedProgram& program = memo->program();
  const std::vector<Executions> executions = CountExecutions(*program.flat);
  std::vector<int> numbers;
  for (const Sharding& sharding : shardings) numbers.push_back(memo->versions().Number(sharding));
  absl::flat_hash_map<std::vector<int>, int64_t>
      sent_by;  // By class of op and the numbers of its tensors' shardings.
  double bytes = 0;
  for (const FlowOp& op : program.graph->ops()) {
    if (op.operands.empty() && op.results.empty()) continue;
    if (program.annotations.boundaries.contains(op.instruction)) continue;
    const auto assigned = [&] {
      const AssignmentProblem problem = ProblemOf(*program.graph, op, [&](int t, bool) {
        TensorState state;
        state.places.push_back(shardings[t]);
        state.reserved = program.annotations.manual[t];
        return state;
      });
      return ChooseAssignment(problem, program.pricing()).sent_bytes;
    };
    if (op.instruction == nullptr) {
      if (shardings[op.operands[0]] != shardings[op.results[0]]) bytes += static_cast<double>(assigned());
      continue;
    }
    std::vector<int> key = {memo->ClassOf(op)};
    for (const int t : op.operands) key.push_back(numbers[t]);
    for (const int t : op.results) key.push_back(numbers[t]);
    const auto [it, is_new] = sent_by.try_emplace(std::move(key), 0);
    if (is_new) it->second = assigned();
    bytes += static_cast<double>(executions[op.instruction->computation()->index()].times) *
             static_cast<double>(it->second);
  }
  return bytes;
}

}  // namespace toroid
