#include "partitioner/search/nearby_shardings.h"

#include <algorithm>
#include <cstdint>

namespace toroid {
namespace {

// Maximum number of producers that Sources follows back.
constexpr int kSteps = 4;
// Maximum number of shardings that All returns.
constexpr size_t kMostShardings = 32;

const TensorFactors& FactorsOf(const FlowOp& op, size_t i) {
  return i < op.operands.size() ? op.rule->operands[i] : op.rule->results[i - op.operands.size()];
}

// The sharding of one tensor, all others being free (Places).
auto Only(int tensor, const Sharding& sharding) {
  return [tensor, &sharding](int t) { return t == tensor ? &sharding : nullptr; };
}

}  // namespace

NearbyShardings::NearbyShardings(PlanMemo* memo)
    : memo_(*memo), program_(memo->program()), graph_(*program_.graph) {
  producer_.assign(graph_.num_tensors(), nullptr);
  users_.resize(graph_.num_tensors());
  for (const FlowOp& op : graph_.ops()) {
    if (!HasRule(op)) continue;
    for (const int t : op.operands) users_[t].push_back(&op);
    for (const int t : op.results) producer_[t] = op.instruction == nullptr ? nullptr : &op;
  }
}

bool NearbyShardings::HasRule(const FlowOp& op) const {
  return !op.rule->factors.empty() && !program_.annotations.boundaries.contains(op.instruction);
}

Sharding NearbyShardings::Under(const FlowOp& op, const TensorFactors& tensor,
                                const Assignment& assignment) const {
  return ShardingUnder(program_.annotations.mesh, *op.rule, tensor, assignment.factor_axes);
}

const Assignment& NearbyShardings::Assign(const FlowOp& op, Places places) {
  DecisionKey key;
  key.op_class = memo_.ClassOf(op);
  for (const int t : TensorsOf(op)) {
    const Sharding* place = places(t);
    key.tensors.push_back(place == nullptr ? -1 : memo_.versions().Number(*place));
  }
  return memo_.Decision(std::move(key), [&] {
    AssignmentProblem problem = ProblemOf(graph_, op, [&](int t, bool, TensorView* view) {
      if (const Sharding* place = places(t)) view->places.push_back(*place);
    });
    problem.reserved = program_.annotations.ManualAxesOf(op);
    return ChooseAssignment(problem, program_.pricing());
  });
}

std::vector<const FlowOp*> NearbyShardings::ContestedOps(const ShardingPlan& plan) {
  std::vector<std::pair<int64_t, const FlowOp*>> ops;
  for (const FlowOp& op : graph_.ops()) {
    if (!HasRule(op)) continue;
    const int64_t sent = Assign(op, [&](int t) { return &plan[t]; }).sent_bytes;
    if (sent > 0) ops.emplace_back(-sent, &op);
  }
  std::sort(ops.begin(), ops.end());
  std::vector<const FlowOp*> sorted;
  for (const auto& [sent, op] : ops) sorted.push_back(op);
  return sorted;
}

std::vector<Sharding> NearbyShardings::Likely(const FlowOp& op, size_t i, const ShardingPlan& plan) {
  const auto tensors = TensorsOf(op);
  const int t = tensors[i];
  std::vector<Sharding> shardings = {Under(
      op, FactorsOf(op, i), Assign(op, [&](int other) { return other == t ? nullptr : &plan[other]; }))};
  for (const int other : tensors) {
    if (other != t) shardings.push_back(Under(op, FactorsOf(op, i), Assign(op, Only(other, plan[other]))));
  }
  shardings.push_back(Sharding::Replicated(graph_.shape(t).rank()));
  return shardings;
}

std::vector<Sharding> NearbyShardings::All(const FlowOp& op, size_t i, const ShardingPlan& plan) const {
  std::vector<AxisList> lists;
  for (const int t : TensorsOf(op)) {
    for (const AxisList& list : plan[t].dims) {
      if (!list.empty() && std::find(lists.begin(), lists.end(), list) == lists.end()) lists.push_back(list);
    }
  }
  const int t = TensorsOf(op)[i];
  const int rank = graph_.shape(t).rank();
  const AxisSet manual = program_.annotations.manual[t];
  std::vector<Sharding> shardings;
  const auto fits = [&](const AxisList& list, int d) {
    return (list.Set() & manual) == 0 && program_.annotations.mesh.Product(list) <= graph_.shape(t).dim(d);
  };
  for (int d = 0; d < rank; ++d) {
    for (const AxisList& list : lists) {
      if (!fits(list, d)) continue;
      Sharding one = Sharding::Replicated(rank);
      one.dims[d] = list;
      shardings.push_back(one);
      for (int e = d + 1; e < rank; ++e) {
        for (const AxisList& other : lists) {
          if ((other.Set() & list.Set()) != 0 || !fits(other, e)) continue;
          Sharding two = one;
          two.dims[e] = other;
          shardings.push_back(std::move(two));
        }
      }
    }
  }
  if (shardings.size() > kMostShardings) shardings.resize(kMostShardings);
  return shardings;
}

std::vector<std::pair<int, Sharding>> NearbyShardings::Sources(int tensor, const Sharding& sharding) {
  std::vector<std::pair<int, Sharding>> sources;
  int t = tensor;
  Sharding wanted = sharding;
  for (int step = 0; step < kSteps; ++step) {
    if (users_[t].size() > 1) sources.emplace_back(t, wanted);
    const FlowOp* op = producer_[t];
    if (op == nullptr || op->results.size() != 1) break;
    const Assignment& assignment = Assign(*op, Only(t, wanted));
    int largest = -1;
    for (size_t i = 0; i < op->operands.size(); ++i) {
      if (!graph_.shape(op->operands[i]).IsArray()) continue;
      if (largest < 0 ||
          graph_.shape(op->operands[i]).ByteSize() > graph_.shape(op->operands[largest]).ByteSize()) {
        largest = static_cast<int>(i);
      }
    }
    if (largest < 0) break;
    wanted = Under(*op, op->rule->operands[largest], assignment);
    t = op->operands[largest];
  }
  return sources;
}

std::vector<std::pair<int, Sharding>> NearbyShardings::ResultsOfUsers(int tensor, const Sharding& sharding) {
  std::vector<std::pair<int, Sharding>> results;
  for (const FlowOp* user : users_[tensor]) {
    if (user->instruction == nullptr) continue;
    const Assignment& assignment = Assign(*user, Only(tensor, sharding));
    for (size_t i = 0; i < user->results.size(); ++i) {
      results.emplace_back(user->results[i], Under(*user, user->rule->results[i], assignment));
    }
  }
  return results;
}

}  // namespace toroid
