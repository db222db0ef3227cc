#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "partitioner/search/strategies.h"
#include "partitioner/sharding_search/move_prices.h"
#include "partitioner/sharding_search/sharding_problem.h"
#include "partitioner/sharding_search/shardings_to_try.h"
#include "partitioner/sharding_search/step_prices.h"

namespace toroid {

namespace {

int64_t Rounded(double picoseconds) {
  if (!(picoseconds < static_cast<double>(kForbidden))) return kForbidden;
  return std::llround(picoseconds);
}

}  // namespace

class ProblemBuilder {
 public:
  ProblemBuilder(const Plan& base, const SearchSpace& space, PlanMemo* memo)
      : space_(space),
        memo_(*memo),
        program_(memo->program()),
        graph_(*program_.graph),
        steps_(base, memo),
        kinds_(space.repeats ? RepeatedKinds(steps_, *memo) : AllApart(steps_)),
        lives_(LivesOf(program_, steps_)),
        prices_(program_, lives_, space.scales),
        moves_(space.units, memo) {
    made_.memo_ = memo;
    made_.base_ = base;
  }

  absl::StatusOr<ShardingProblem> Build() {
    made_.op_node_.assign(graph_.ops().size(), -1);
    made_.tensor_node_.assign(graph_.num_tensors(), -1);
    made_.state_ = StateOf(program_);
    FindOwnNodes();
    AddTensorNodes();
    for (int i = 0; i < steps_.size(); ++i) RETURN_IF_ERROR(AddOp(i));
    AddState();
    AddLives();
    for (auto& [nodes, costs] : edges_) {
      made_.problem_.edges.push_back({{nodes.first, nodes.second}, std::move(costs)});
    }
    made_.problem_.usage_limit = space_.memory;
    return std::move(made_);
  }

 private:
  // The shardings in which a value exists, by strategy of a node.
  struct Source {
    int node = -1;
    std::vector<int> shardings;
  };

  bool IsValue(int t) const { return graph_.shape(t).IsArray() && !steps_.is_free(t); }

  // Which tensors get a node of their own.
  void FindOwnNodes() {
    for (const int t : BoundaryTensors(program_)) boundary_.insert(t);
    own_.assign(graph_.num_tensors(), false);
    maker_.assign(graph_.num_tensors(), {-1, 0});
    std::vector<int> users(graph_.num_tensors(), 0);
    for (int i = 0; i < steps_.size(); ++i) {
      const ProgramStep& step = steps_.step(i);
      const bool is_op = IsOp(step);
      absl::flat_hash_set<int> taken;
      for (const int t : step.op->operands) {
        if (taken.insert(t).second) ++users[t];
        if (!is_op) own_[t] = true;
      }
      for (size_t k = 0; k < step.op->results.size(); ++k) {
        const int t = step.op->results[k];
        if (is_op) maker_[t] = {i, static_cast<int>(k)};
        if (!is_op) own_[t] = true;
      }
      for (const Delivery& delivery : step.deliveries) own_[delivery.from] = own_[delivery.to] = true;
    }
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      own_[t] = own_[t] || users[t] > 1 || maker_[t].first < 0 || program_.annotations.tensor[t].has_value();
      own_[t] = own_[t] && IsValue(t);
    }
    // Tensors of a kind share a node.
    std::vector<bool> kind_owns(graph_.num_tensors(), false);
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (own_[t]) kind_owns[kinds_.of_tensor[t]] = true;
    }
    for (int t = 0; t < graph_.num_tensors(); ++t) own_[t] = IsValue(t) && kind_owns[kinds_.of_tensor[t]];
  }

  // Whether a step is computed by a choice. Slices that are read through are, too: nothing tells their users apart.
  bool IsOp(const ProgramStep& step) const {
    if (step.op->instruction == nullptr || step.op->rule == nullptr || !step.deliveries.empty()) return false;
    if (step.op->results.empty() || !absl::c_all_of(step.op->results, [&](int t) { return IsValue(t); }))
      return false;
    return step.is_decided || program_.read_through.contains(step.op->instruction);
  }

  int AddNode(std::string name) {
    ChoiceNode node;
    node.name = std::move(name);
    made_.problem_.nodes.push_back(std::move(node));
    made_.op_choices_.emplace_back();
    made_.domains_.emplace_back();
    return static_cast<int>(made_.problem_.nodes.size()) - 1;
  }

  void AddTensorNodes() {
    const std::vector<std::string> names = TensorNames(program_);
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (!own_[t]) continue;
      const int kind = kinds_.of_tensor[t];
      if (made_.tensor_node_[kind] < 0) {
        const int node = AddNode(names[kind]);
        made_.tensor_node_[kind] = node;
        for (const Sharding& sharding : DomainOf(kind))
          made_.domains_[node].push_back(memo_.versions().Number(sharding));
        made_.problem_.nodes[node].costs.assign(made_.domains_[node].size(), 0);
      }
      made_.tensor_node_[t] = made_.tensor_node_[kind];
    }
  }

  // The shardings that a tensor may have.
  std::vector<Sharding> DomainOf(int t) const {
    const Sharding& base = made_.base_.shardings[t];
    if (program_.annotations.manual[t] != 0 || base.partial != 0 || !graph_.shape(t).IsArray() ||
        graph_.shape(t).IsDynamic()) {
      Sharding only = base;
      only.manual = program_.annotations.manual[t];
      return {only};
    }
    std::vector<Sharding> domain = ShardingsToTry(graph_.shape(t).dims(), space_.units,
                                                  program_.annotations.mesh, boundary_.contains(t));
    if (const auto& annotation = program_.annotations.tensor[t]) {
      std::erase_if(domain, [&](const Sharding& sharding) {
        if ((sharding.DimAxes() & annotation->replicated) != 0) return true;
        for (size_t d = 0; d < sharding.dims.size(); ++d) {
          const AxisList& stated = annotation->sharding.dims[d];
          const bool closed = (annotation->closed >> d & 1) != 0;
          if (closed ? sharding.dims[d] != stated : !stated.IsPrefixOf(sharding.dims[d])) return true;
        }
        return false;
      });
      if (domain.empty()) domain = {base};
    }
    return domain;
  }

  absl::Status AddOp(int i) {
    const ProgramStep& step = steps_.step(i);
    const FlowOp& op = *step.op;
    if (!IsOp(step)) return AddDeliveries(step);
    const int kind = kinds_.of_op[i];
    if (made_.op_node_[kind] < 0) {
      made_.op_node_[kind] = AddNode(op.instruction->Path());
      made_.op_choices_[made_.op_node_[kind]] = ChoicesOf(op);
      made_.problem_.nodes.back().costs.assign(made_.op_choices_.back().size(), 0);
    }
    const int node = made_.op_node_[i] = made_.op_node_[kind];
    const auto& choices = made_.op_choices_[node];
    for (size_t c = 0; c < choices.size(); ++c) {
      int64_t& total = made_.problem_.nodes[node].costs[c];
      total = AddCosts(total, Rounded(step.times * prices_.OfOp(op, *choices[c])));
    }
    RETURN_IF_ERROR(AddOperands(step, node));
    for (size_t k = 0; k < op.results.size(); ++k) {
      const int t = op.results[k];
      if (!own_[t]) continue;
      Source made = {node, {}};
      for (const OpChoice* choice : choices) made.shardings.push_back(choice->results[k]);
      RETURN_IF_ERROR(AddMoves(t, step.times, made, SourceOfNode(made_.tensor_node_[t])));
    }
    return absl::OkStatus();
  }

  // Ways to cut an op with little padding, with the units that cut one factor in their order. Among those that take and make
  // the same, the cheapest.
  std::vector<const OpChoice*> ChoicesOf(const FlowOp& op) {
    std::map<std::pair<std::vector<int>, std::vector<int>>, const OpChoice*> best;
    for (const OpChoice* choice : memo_.Choices(op, space_.units)) {
      if (!IsTried(op, *choice)) continue;
      const std::pair key(std::vector<int>(choice->operands.begin(), choice->operands.end()),
                          std::vector<int>(choice->results.begin(), choice->results.end()));
      const OpChoice*& known = best[key];
      if (known == nullptr || choice->time < known->time) known = choice;
    }
    std::vector<const OpChoice*> choices;
    for (const auto& [key, choice] : best) choices.push_back(choice);
    return choices;
  }

  bool IsTried(const FlowOp& op, const OpChoice& choice) const {
    const Mesh& mesh = program_.annotations.mesh;
    for (size_t f = 0; f < choice.factor_axes.size(); ++f) {
      const AxisList& axes = choice.factor_axes[f];
      if (!axes.empty() && !IsWorthCutting(op.rule->factors[f].size, mesh.Product(axes))) return false;
      if (mesh.InOrder(axes.Set()) != axes) return false;
    }
    return true;
  }

  Source SourceOfNode(int node) const { return {node, made_.domains_[node]}; }

  // Where a tensor comes from; no node if it is free.
  Source SourceOf(int t) const {
    if (!IsValue(t)) return {};
    if (own_[t]) return SourceOfNode(made_.tensor_node_[t]);
    const auto [maker, leaf] = maker_[t];
    if (maker < 0 || made_.op_node_[maker] < 0) return {};
    Source source = {made_.op_node_[maker], {}};
    for (const OpChoice* choice : made_.op_choices_[source.node])
      source.shardings.push_back(choice->results[leaf]);
    return source;
  }

  // An op that takes a tensor twice fetches each sharding of it once.
  absl::Status AddOperands(const ProgramStep& step, int node) {
    const FlowOp& op = *step.op;
    const auto& choices = made_.op_choices_[node];
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const int t = op.operands[k];
      const auto before = absl::MakeConstSpan(op.operands).first(k);
      const Source source = SourceOf(t);
      if (source.node < 0) continue;
      Source taken = {node, {}};
      for (const OpChoice* choice : choices) {
        bool is_known = false;
        for (size_t other = 0; other < before.size(); ++other) {
          is_known = is_known || (before[other] == t && choice->operands[other] == choice->operands[k]);
        }
        taken.shardings.push_back(is_known ? -1 : choice->operands[k]);
      }
      RETURN_IF_ERROR(AddMoves(t, step.times, source, taken));
    }
    return absl::OkStatus();
  }

  absl::Status AddDeliveries(const ProgramStep& step) {
    const FlowOp& op = *step.op;
    if (op.instruction == nullptr) {
      const int from = op.operands[0], to = op.results[0];
      if (!IsValue(from) || !IsValue(to)) return absl::OkStatus();
      return AddMoves(from, step.times, SourceOf(from), SourceOf(to));
    }
    for (const Delivery& delivery : step.deliveries) {
      const Source from = SourceOf(delivery.from);
      if (from.node < 0) continue;
      const bool hands_on = delivery.from != delivery.to && delivery.made < 0;
      if (hands_on && IsValue(delivery.to)) {
        RETURN_IF_ERROR(AddMoves(delivery.from, step.times, from, SourceOf(delivery.to)));
      }
      if (delivery.wanted < 0) continue;
      for (size_t s = 0; s < from.shardings.size(); ++s) {
        int64_t& cost = made_.problem_.nodes[from.node].costs[s];
        cost = AddCosts(cost, MoveCost(delivery.from, step.times, from.shardings[s], delivery.wanted));
      }
    }
    return absl::OkStatus();
  }

  int64_t MoveCost(int t, double times, int from, int to) {
    if (to < 0 || from == to) return 0;
    const MovePrices::Price price = moves_.Of(t, from, to);
    return Rounded(times * prices_.OfCollectives(price.time, price.collectives));
  }

  absl::Status AddMoves(int t, double times, const Source& from, const Source& to) {
    if (from.node < 0 || to.node < 0) return absl::OkStatus();
    const size_t rows = from.shardings.size(), columns = to.shardings.size();
    if (from.node == to.node) {
      for (size_t s = 0; s < rows; ++s) {
        int64_t& cost = made_.problem_.nodes[from.node].costs[s];
        cost = AddCosts(cost, MoveCost(t, times, from.shardings[s], to.shardings[s]));
      }
      return absl::OkStatus();
    }
    const bool turns = from.node > to.node;
    std::vector<int64_t>& costs = edges_[std::minmax(from.node, to.node)];
    if (costs.empty()) {
      num_costs_ += static_cast<int64_t>(rows * columns);
      if (num_costs_ > ShardingProblem::kMostCosts) {
        return absl::ResourceExhaustedError(
            absl::StrCat("the search has more than ", ShardingProblem::kMostCosts,
                         " costs to compare; give a mesh of fewer axes, or fix more arrays"));
      }
      costs.assign(rows * columns, 0);
    }
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        int64_t& cost = costs[turns ? c * rows + r : r * columns + c];
        cost = AddCosts(cost, MoveCost(t, times, from.shardings[r], to.shardings[c]));
      }
    }
    return absl::OkStatus();
  }

  // A step returns its state as it takes it.
  void AddState() {
    for (const auto& [argument, output] : made_.state_) {
      const int a = made_.tensor_node_[argument], b = made_.tensor_node_[output];
      if (a < 0 || b < 0 || a == b) continue;
      if (program_.annotations.tensor[output] || program_.annotations.tensor[argument]) continue;
      const auto &of_a = made_.domains_[a], &of_b = made_.domains_[b];
      std::vector<int64_t>& costs = edges_[std::minmax(a, b)];
      if (costs.empty()) costs.assign(of_a.size() * of_b.size(), 0);
      for (size_t i = 0; i < of_a.size(); ++i) {
        for (size_t j = 0; j < of_b.size(); ++j) {
          if (of_a[i] != of_b[j]) costs[a < b ? i * of_b.size() + j : j * of_a.size() + i] = kForbidden;
        }
      }
    }
  }

  // Nodes hold memory from the first to the last time at which any of their tensors lives. Of tensors of one kind, as many
  // count as live at a time.
  void AddLives() {
    std::map<int, std::vector<int>> tensors;  // By node.
    for (int t = 0; t < graph_.num_tensors(); ++t) {
      if (!IsValue(t) || !lives_[t].is_written || lives_[t].begin >= lives_[t].end) continue;
      const Source source = SourceOf(t);
      if (source.node >= 0) tensors[source.node].push_back(t);
    }
    for (ChoiceNode& node : made_.problem_.nodes) node.usages.assign(node.costs.size(), 0);
    for (const auto& [node, held] : tensors) AddLife(node, held);
  }

  void AddLife(int number, const std::vector<int>& held) {
    ChoiceNode& node = made_.problem_.nodes[number];
    std::vector<std::pair<int64_t, int>> events;
    node.begin = INT64_MAX;
    for (const int t : held) {
      events.push_back({lives_[t].begin, 1});
      events.push_back({lives_[t].end, -1});
      node.begin = std::min(node.begin, lives_[t].begin);
      node.end = std::max(node.end, lives_[t].end);
    }
    absl::c_sort(events);
    int64_t alive = 0, most = 0;
    for (const auto& [time, change] : events) most = std::max(most, alive += change);
    const Source source = SourceOf(held[0]);
    for (size_t s = 0; s < source.shardings.size(); ++s) {
      node.usages[s] = most * LocalBytes(program_, held[0], memo_.versions().sharding(source.shardings[s]));
    }
  }

  const SearchSpace& space_;
  PlanMemo& memo_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const ProgramSteps steps_;
  const Kinds kinds_;
  const std::vector<TensorLife> lives_;
  const StepPrices prices_;
  MovePrices moves_;
  ShardingProblem made_;
  absl::flat_hash_set<int> boundary_;       // Arguments and results.
  std::vector<bool> own_;                   // By tensor: whether it has a node of its own.
  std::vector<std::pair<int, int>> maker_;  // By tensor: the step that makes it, and the leaf; -1: none.
  std::map<std::pair<int, int>, std::vector<int64_t>> edges_;  // By nodes, the smaller number first.
  int64_t num_costs_ = 0;
};

absl::StatusOr<ShardingProblem> ShardingProblem::Make(const Plan& base, const SearchSpace& space,
                                                      PlanMemo* memo) {
  return ProblemBuilder(base, space, memo).Build();
}

}  // namespace toroid
