#include "tests/partitioner/search/best_assignment.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/math.h"
#include "partitioner/assign/assignment.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// The versions of the live tensors, by ascending tensor.
using Versions = std::vector<std::pair<int, std::vector<Sharding>>>;

struct Cost {
  double flops = 0;
  double sent = 0;
};

using States =
    absl::flat_hash_map<Versions, std::vector<Cost>>;  // Costs of which none is lower in both fields.

class Enumeration {
 public:
  Enumeration(const PreparedProgram& program, const AxisUnits& units, const WholeRun& bound)
      : program_(program),
        graph_(*program.graph),
        mesh_(program.annotations.mesh),
        units_(units),
        bound_(bound) {
    last_use_.assign(graph_.num_tensors(), -1);
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      for (const int t : graph_.ops()[i].operands) last_use_[t] = static_cast<int>(i);
    }
  }

  std::optional<double> Run(size_t max_states) {
    Versions first;
    for (const Instruction* parameter : program_.flat->entry()->parameters()) {
      const int t = graph_.Leaves(*parameter)[0];
      if (last_use_[t] >= 0) first.push_back({t, {program_.annotations.tensor[t]->sharding}});
    }
    std::sort(first.begin(), first.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    States states;
    states[first].push_back({});
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      const FlowOp& op = graph_.ops()[i];
      next_.clear();
      const bool to_output = op.instruction == nullptr;
      if (!to_output) ListAssignments(op);
      for (const auto& [versions, costs] : states) {
        if (to_output) {
          Deliver(op, static_cast<int>(i), versions, costs);
        } else {
          Compute(op, static_cast<int>(i), versions, costs);
        }
        if (next_.size() > max_states) return std::nullopt;
      }
      std::swap(states, next_);
    }
    double best = bound_.sent_bytes;
    for (const auto& [versions, costs] : states) {
      for (const Cost& cost : costs) best = std::min(best, cost.sent);
    }
    return best;
  }

 private:
  using Axes = absl::InlinedVector<AxisList, 6>;

  // Lists all assignments of the units to factors that they may cut, or to none, with the units of one factor
  // in any order.
  void ListAssignments(const FlowOp& op) {
    assignments_.clear();
    std::vector<int> order(units_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::map<std::vector<std::vector<int>>, bool> seen;
    do {
      Axes axes(op.rule->factors.size());
      Extend(op, order, 0, &axes, &seen);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  void Extend(const FlowOp& op, const std::vector<int>& order, size_t i, Axes* axes,
              std::map<std::vector<std::vector<int>>, bool>* seen) {
    if (i == order.size()) {
      std::vector<std::vector<int>> key;
      for (const AxisList& list : *axes) key.emplace_back(list.begin(), list.end());
      if (!std::exchange((*seen)[key], true)) assignments_.push_back(*axes);
      return;
    }
    Extend(op, order, i + 1, axes, seen);
    for (size_t f = 0; f < axes->size(); ++f) {
      const Factor& factor = op.rule->factors[f];
      if (!CanCutLocally(*op.instruction, factor.kind)) continue;
      AxisList longer = (*axes)[f];
      longer.Append(units_[order[i]]);
      if (mesh_.Product(longer) > factor.size) continue;
      const AxisList shorter = std::exchange((*axes)[f], longer);
      Extend(op, order, i + 1, axes, seen);
      (*axes)[f] = shorter;
    }
  }

  double Flops(const FlowOp& op, const Axes& axes) const {
    double flops = op.rule->flops_per_point;
    for (size_t f = 0; flops > 0 && f < axes.size(); ++f) {
      flops *= static_cast<double>(CeilOfRatio(op.rule->factors[f].size, mesh_.Product(axes[f])));
    }
    return flops;
  }

  static std::vector<Sharding>* Find(Versions* versions, int tensor) {
    for (auto& [t, list] : *versions) {
      if (t == tensor) return &list;
    }
    return nullptr;
  }

  // Fetches a tensor and adds the version. Returns the bytes sent; negative if no version can be resharded to
  // it.
  double Fetch(int tensor, const Sharding& needed, Versions* versions) {
    std::vector<Sharding>* list = Find(versions, tensor);
    const Shape& shape = graph_.shape(tensor);
    double sent = -1;
    for (const Sharding& version : *list) {
      if (version == needed) return 0;
      if (needed.partial & ~version.partial) continue;
      const double plan = static_cast<double>(
          program_.planner->Plan(shape.dims(), ByteWidth(shape.element_type()), version, needed).sent_bytes);
      if (sent < 0 || plan < sent) sent = plan;
    }
    if (sent >= 0) {
      list->push_back(needed);
      std::sort(list->begin(), list->end(), Before);
    }
    return sent;
  }

  static bool Before(const Sharding& a, const Sharding& b) {
    if (a.partial != b.partial) return a.partial < b.partial;
    for (size_t d = 0; d < a.dims.size(); ++d) {
      if (a.dims[d] == b.dims[d]) continue;
      return std::lexicographical_compare(a.dims[d].begin(), a.dims[d].end(), b.dims[d].begin(),
                                          b.dims[d].end());
    }
    return false;
  }

  void Keep(Versions versions, int op, absl::Span<const Cost> costs, double flops, double sent) {
    versions.erase(std::remove_if(versions.begin(), versions.end(),
                                  [&](const auto& v) { return last_use_[v.first] <= op; }),
                   versions.end());
    std::vector<Cost>* kept = nullptr;
    for (const Cost& cost : costs) {
      const Cost now = {cost.flops + flops, cost.sent + sent};
      if (now.flops > bound_.flops || now.sent >= bound_.sent_bytes) continue;
      if (kept == nullptr) kept = &next_[versions];
      const auto no_better = [&](const Cost& c) { return c.flops <= now.flops && c.sent <= now.sent; };
      if (std::any_of(kept->begin(), kept->end(), no_better)) continue;
      kept->erase(std::remove_if(kept->begin(), kept->end(),
                                 [&](const Cost& c) { return now.flops <= c.flops && now.sent <= c.sent; }),
                  kept->end());
      kept->push_back(now);
    }
  }

  void Deliver(const FlowOp& op, int index, const Versions& versions, absl::Span<const Cost> costs) {
    Versions now = versions;
    const double sent = Fetch(op.operands[0], program_.annotations.tensor[op.results[0]]->sharding, &now);
    if (sent >= 0) Keep(std::move(now), index, costs, 0, sent);
  }

  void Compute(const FlowOp& op, int index, const Versions& versions, absl::Span<const Cost> costs) {
    for (const Axes& axes : assignments_) {
      const double flops = Flops(op, axes);
      TryOne(op, index, versions, costs, axes, flops, 0, 0);
      AxisSet used = 0;
      for (const AxisList& list : axes) used |= list.Set();
      for (const Linearity& linearity : op.rule->linear) {
        for (const AxisSet passed : PartialSets(op, linearity, versions)) {
          if ((passed & used) == 0)
            TryOne(op, index, versions, costs, axes, flops, linearity.together, passed);
        }
      }
    }
  }

  // The sets of axes over which operands of `linearity` have partial versions.
  std::vector<AxisSet> PartialSets(const FlowOp& op, const Linearity& linearity, Versions versions) {
    std::vector<AxisSet> sets;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (!(linearity.together >> i & 1)) continue;
      for (const Sharding& version : *Find(&versions, op.operands[i])) {
        if (version.partial != 0 && std::find(sets.begin(), sets.end(), version.partial) == sets.end()) {
          sets.push_back(version.partial);
        }
      }
    }
    return sets;
  }

  void TryOne(const FlowOp& op, int index, const Versions& versions, absl::Span<const Cost> costs,
              const Axes& axes, double flops, uint32_t together, AxisSet passed) {
    Versions now = versions;
    double sent = 0;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      Sharding needed = ShardingUnder(mesh_, *op.rule, op.rule->operands[i], axes);
      if (together >> i & 1) needed.partial = passed;
      const double fetched = Fetch(op.operands[i], needed, &now);
      if (fetched < 0) return;
      sent += fetched;
    }
    Sharding result = ShardingUnder(mesh_, *op.rule, op.rule->results[0], axes);
    result.partial = PartialAxes(*op.rule, axes) | passed;
    now.push_back({op.results[0], {result}});
    std::sort(now.begin(), now.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Keep(std::move(now), index, costs, flops, sent);
  }

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const Mesh& mesh_;
  const AxisUnits& units_;
  const WholeRun bound_;
  std::vector<int> last_use_;  // By tensor: the last op that uses it.
  std::vector<Axes> assignments_;
  States next_;
};

}  // namespace

std::optional<double> FewestBytes(const PreparedProgram& program, const AxisUnits& units,
                                  const WholeRun& bound, size_t max_states) {
  return Enumeration(program, units, bound).Run(max_states);
}

}  // namespace toroid
