#include "hlo/ir/topological_order.h"

#include <functional>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"

namespace toroid {

absl::StatusOr<std::vector<Instruction*>> TopologicalOrder(const Computation& computation,
                                                           absl::Span<const int> rank) {
  const int n = computation.size();
  std::vector<int> waits_for(n, 0);
  std::vector<std::vector<int>> unblocks(n);
  for (const auto& instruction : computation.instructions()) {
    const auto wait = [&](const Instruction* before) {
      ++waits_for[instruction->index()];
      unblocks[before->index()].push_back(instruction->index());
    };
    for (const Instruction* operand : instruction->operands()) wait(operand);
    for (const Instruction* predecessor : instruction->control_predecessors()) wait(predecessor);
  }
  using RankAndIndex = std::pair<int, int>;
  std::priority_queue<RankAndIndex, std::vector<RankAndIndex>, std::greater<RankAndIndex>> ready;
  const auto push = [&](int i) { ready.push({rank.empty() ? i : rank[i], i}); };
  for (int i = 0; i < n; ++i) {
    if (waits_for[i] == 0) push(i);
  }
  std::vector<Instruction*> order;
  order.reserve(n);
  while (!ready.empty()) {
    const int next = ready.top().second;
    ready.pop();
    order.push_back(computation.instruction(next));
    for (const int user : unblocks[next]) {
      if (--waits_for[user] == 0) push(user);
    }
  }
  for (int i = 0; i < n; ++i) {
    if (waits_for[i] == 0) continue;
    return absl::InternalError(
        absl::StrCat(computation.instruction(i)->Path(), ": uses itself, directly or through its operands"));
  }
  return order;
}

}  // namespace toroid
