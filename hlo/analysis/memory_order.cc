#include "hlo/analysis/memory_order.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "hlo/base/math.h"

namespace toroid {
namespace {

// Which steps must run before which, and what each one makes and frees.
class Graph {
 public:
  Graph(const Computation& computation, const MemorySteps& steps, const std::vector<int64_t>& peaks)
      : steps_(steps), before_(size()), after_(size()), made_(size(), 0), body_(size(), 0) {
    const Buffers& buffers = steps.buffers;
    FindMakers(computation);
    step_of_.assign(computation.size(), -1);
    for (int s = 0; s < size(); ++s) step_of_[steps.steps[s].op->index()] = s;
    for (int s = 0; s < size(); ++s) {
      const MemoryStep& step = steps.steps[s];
      for (const int b : step.reads) {
        if (maker_[b] >= 0) before_[s].push_back(maker_[b]);
      }
      for (const Instruction* other : step.op->control_predecessors()) AddOrdered(*other, s);
      for (const Instruction* operand : step.op->operands()) AddTokens(*operand, s);
      for (const int b : buffers.Of(*step.op)) {
        if (buffers[b].maker == step.op) made_[s] = SaturatingAdd(made_[s], buffers[b].bytes);
      }
      if (HasTrait(step.op->opcode(), kRunsBody)) {
        for (const Computation* body : step.op->called()) body_[s] = std::max(body_[s], peaks[body->index()]);
      }
      std::sort(before_[s].begin(), before_[s].end());
      before_[s].erase(std::unique(before_[s].begin(), before_[s].end()), before_[s].end());
      for (const int other : before_[s]) after_[other].push_back(s);
    }
  }

  int size() const { return static_cast<int>(steps_.steps.size()); }
  const MemorySteps& steps() const { return steps_; }
  const std::vector<int>& before(int step) const { return before_[step]; }
  const std::vector<int>& after(int step) const { return after_[step]; }
  int64_t made(int step) const { return made_[step]; }  // Bytes.
  int64_t body(int step) const { return body_[step]; }  // Peak of the bodies it runs.
  int maker(int buffer) const { return maker_[buffer]; }

 private:
  void FindMakers(const Computation& computation) {
    std::vector<int> step_of(computation.size(), -1);
    for (int s = 0; s < size(); ++s) step_of[steps_.steps[s].op->index()] = s;
    maker_.assign(steps_.buffers.size(), -1);
    for (int b = 0; b < steps_.buffers.size(); ++b) maker_[b] = step_of[steps_.buffers[b].maker->index()];
  }
  void AddOrdered(const Instruction& first, int then) {
    if (step_of_[first.index()] >= 0) {
      before_[then].push_back(step_of_[first.index()]);
      return;
    }
    for (const int b : steps_.buffers.Of(first)) {
      if (maker_[b] >= 0 && maker_[b] != then) before_[then].push_back(maker_[b]);
    }
  }
  // add-dependency names its first operand, and comes after the second.
  void AddTokens(const Instruction& operand, int then) {
    if (operand.opcode() == Opcode::kAddDependency && operand.num_operands() == 2)
      AddOrdered(*operand.operand(1), then);
  }

  const MemorySteps& steps_;
  std::vector<int> step_of_;  // By instruction; -1.
  std::vector<int> maker_;    // By buffer: the step; -1 for arguments.
  std::vector<std::vector<int>> before_, after_;
  std::vector<int64_t> made_, body_;
};

// Depth first from the results; of what a step needs, that with the largest rank first.
std::vector<int> DepthFirst(const Graph& graph, const std::vector<std::pair<int64_t, int64_t>>& rank) {
  std::vector<int> order;
  std::vector<bool> seen(graph.size(), false);
  struct Visit {
    int step;
    std::vector<int> needed;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  const auto visit = [&](int step) {
    if (seen[step]) return;
    seen[step] = true;
    Visit visit = {step, graph.before(step)};
    if (!rank.empty()) {
      std::stable_sort(visit.needed.begin(), visit.needed.end(),
                       [&](int a, int b) { return rank[a] > rank[b]; });
    }
    stack.push_back(std::move(visit));
  };
  const auto run = [&] {
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next < top.needed.size()) {
        visit(top.needed[top.next++]);  // May move `top`.
      } else {
        order.push_back(top.step);
        stack.pop_back();
      }
    }
  };
  // Steps that nothing reads, first to last: results and side effects. A result that many steps lead to comes with them.
  for (int s = 0; s < graph.size(); ++s) {
    if (!graph.after(s).empty()) continue;
    visit(s);
    run();
  }
  for (int s = 0; s < graph.size(); ++s) {  // In a cycle: an invalid module.
    visit(s);
    run();
  }
  return order;
}

// How many further readers, and how many bytes, are behind each step, each way counted.
std::vector<std::pair<int64_t, int64_t>> Ranks(const Graph& graph) {
  std::vector<std::pair<int64_t, int64_t>> rank(graph.size());
  int64_t all_bytes = 0;
  for (int s = 0; s < graph.size(); ++s) {
    const int64_t further = std::max<int64_t>(0, static_cast<int64_t>(graph.after(s).size()) - 1);
    int64_t readers = further, bytes = graph.made(s);
    all_bytes = SaturatingAdd(all_bytes, bytes);
    for (const int other : graph.before(s)) {
      if (other >= s) continue;
      readers = SaturatingAdd(readers, rank[other].first);
      bytes = SaturatingAdd(bytes, rank[other].second);
    }
    rank[s] = {std::min<int64_t>(readers, graph.size()), std::min(bytes, all_bytes)};
  }
  return rank;
}

// Step by step: of the steps that can run, that which frees most bytes, beyond what it makes.
class ListOrder {
 public:
  ListOrder(const Computation& computation, const Graph& graph)
      : graph_(graph), readers_(graph.steps().buffers.size()), waits_for_(graph.size()), keys_(graph.size()) {
    const MemorySteps& steps = graph.steps();
    stays_.assign(steps.buffers.size(), false);
    if (computation.root() != nullptr) {
      for (const int b : steps.buffers.Of(*computation.root())) stays_[b] = true;
    }
    const bool is_entry = &computation == computation.module()->entry();
    const std::vector<bool> donated =
        is_entry ? DonatedParameters(*computation.module()) : std::vector<bool>();
    for (const Instruction* parameter : computation.parameters()) {
      const int64_t number = parameter->parameter_number();
      if (is_entry && number < static_cast<int64_t>(donated.size()) && donated[number]) continue;
      for (const int b : steps.buffers.Of(*parameter)) stays_[b] = true;  // The caller's.
    }
    for (int s = 0; s < graph.size(); ++s) {
      waits_for_[s] = static_cast<int>(graph.before(s).size());
      for (const int b : steps.steps[s].reads) readers_[b].insert(s);
    }
  }

  std::vector<int> Run() {
    std::vector<int> order;
    for (int s = 0; s < graph_.size(); ++s) {
      if (waits_for_[s] == 0) Insert(s);
    }
    while (!ready_.empty()) {
      const int step = -std::get<2>(*ready_.rbegin());
      ready_.erase(std::prev(ready_.end()));
      waits_for_[step] = -1;
      order.push_back(step);
      for (const int b : graph_.steps().steps[step].reads) {
        readers_[b].erase(step);
        // The last reader that is left frees the buffer.
        if (readers_[b].size() == 1) Update(*readers_[b].begin());
      }
      for (const int other : graph_.after(step)) {
        if (--waits_for_[other] == 0) Insert(other);
      }
    }
    return order;
  }

 private:
  // Bytes freed; readers that it makes ready; earlier steps first. The largest runs first.
  using Key = std::tuple<int64_t, int64_t, int>;

  Key KeyOf(int step) const {
    int64_t freed = 0;
    for (const int b : graph_.steps().steps[step].reads) {
      if (readers_[b].size() == 1 && !stays_[b])
        freed = SaturatingAdd(freed, graph_.steps().buffers[b].bytes);
    }
    int64_t woken = 0;
    for (const int other : graph_.after(step)) woken += waits_for_[other] == 1;
    return {freed - graph_.made(step), woken, -step};
  }
  void Insert(int step) {
    keys_[step] = KeyOf(step);
    ready_.insert(keys_[step]);
  }
  void Update(int step) {
    if (waits_for_[step] != 0) return;
    ready_.erase(keys_[step]);
    Insert(step);
  }

  const Graph& graph_;
  std::vector<std::set<int>> readers_;  // By buffer: steps that have not run.
  std::vector<bool> stays_;             // By buffer: freed by nothing.
  std::vector<int> waits_for_;          // By step: producers that have not run; -1 once it ran.
  std::vector<Key> keys_;
  std::set<Key> ready_;
};

}  // namespace

std::vector<std::vector<int>> OrdersForMemory(const Computation& computation, const MemorySteps& steps,
                                              const std::vector<int64_t>& peaks) {
  std::vector<int> as_written(steps.steps.size());
  std::iota(as_written.begin(), as_written.end(), 0);
  std::vector<std::vector<int>> orders = {as_written};
  if (steps.steps.size() < 3) return orders;
  const Graph graph(computation, steps, peaks);
  orders.push_back(DepthFirst(graph, Ranks(graph)));
  orders.push_back(DepthFirst(graph, {}));
  std::vector<int> list = ListOrder(computation, graph).Run();
  if (list.size() == as_written.size())
    orders.push_back(std::move(list));  // Shorter: a cycle, an invalid module.
  return orders;
}

}  // namespace toroid
