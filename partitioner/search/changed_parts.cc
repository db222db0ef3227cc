#include "partitioner/search/changed_parts.h"

#include "absl/types/span.h"
#include "hlo/base/disjoint_sets.h"

namespace toroid {
namespace {

bool AreAlike(const OpDecision& a, const OpDecision& b) {
  return a.assignment.factor_axes == b.assignment.factor_axes &&
         a.passed_on.operands == b.passed_on.operands &&
         (a.passed_on.none() || a.passed_on.partial == b.passed_on.partial);
}

}  // namespace

std::vector<DecidedOps> ChangedParts(const FlowGraph& graph, const DecidedOps& now, const DecidedOps& found) {
  std::vector<const FlowOp*> changed;
  for (const FlowOp& op : graph.ops()) {
    const auto to = found.find(&op), from = now.find(&op);
    if (to != found.end() && from != now.end() && !AreAlike(from->second, to->second)) changed.push_back(&op);
  }
  const int n = static_cast<int>(changed.size());
  DisjointSets sets(n);
  std::vector<int> at_tensor(graph.num_tensors(), -1);  // By tensor: a changed op that reads or makes it.
  for (int i = 0; i < n; ++i) {
    const auto join_at = [&](absl::Span<const int> tensors) {
      for (const int t : tensors) {
        if (at_tensor[t] >= 0) sets.Join(i, at_tensor[t]);
        at_tensor[t] = i;
      }
    };
    join_at(changed[i]->operands);
    join_at(changed[i]->results);
  }
  std::vector<DecidedOps> parts;
  std::vector<int> part_of(n, -1);
  for (int i = 0; i < n; ++i) {
    int& part = part_of[sets.Root(i)];
    if (part < 0) {
      part = static_cast<int>(parts.size());
      parts.emplace_back();
    }
    parts[part].emplace(changed[i], found.at(changed[i]));
  }
  return parts;
}

}  // namespace toroid
