#include "partitioner/plan/op_choices.h"

#include <algorithm>
#include <utility>

#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// A small weight, so that memory traffic decides only between choices that send the same.
constexpr double kMemoryWeight = 1e-3;

class Enumeration {
 public:
  Enumeration(const PreparedProgram& program, const FlowOp& op, const AxisUnits& units)
      : op_(op),
        mesh_(program.annotations.mesh),
        units_(units),
        reserved_(program.annotations.ManualAxesOf(op)) {
    for (size_t f = 0; f < op.rule->factors.size(); ++f) {
      const Factor& factor = op.rule->factors[f];
      if (factor.size > 1 && CanCutLocally(*op.instruction, factor.kind))
        factors_.push_back(static_cast<int>(f));
    }
  }

  double Count() const {
    double count = 1;
    for (size_t i = 0; i < units_.size(); ++i) count *= static_cast<double>(factors_.size() + 1);
    return count;
  }

  std::vector<FactorAxesList> All() {
    on_factor_.assign(op_.rule->factors.size(), {});
    Place(0);
    return std::move(found_);
  }

 private:
  // Assigns unit `i` and all later units to factors, in every way.
  void Place(size_t i) {
    if (i == units_.size()) {
      FactorAxesList axes(on_factor_.size());
      Order(0, &axes);
      return;
    }
    Place(i + 1);
    if ((units_[i].Set() & reserved_) != 0) return;
    for (const int f : factors_) {
      on_factor_[f].push_back(static_cast<int>(i));
      if (Tiles(on_factor_[f]) <= op_.rule->factors[f].size) Place(i + 1);
      on_factor_[f].pop_back();
    }
  }

  int64_t Tiles(const std::vector<int>& units) const {
    int64_t tiles = 1;
    for (const int i : units) tiles *= mesh_.Product(units_[i]);
    return tiles;
  }

  // Puts the units of factor `f` and of all later factors in every order.
  void Order(size_t f, FactorAxesList* axes) {
    if (f == on_factor_.size()) {
      if (IsExpressible(mesh_, *op_.rule, *axes)) found_.push_back(*axes);
      return;
    }
    std::vector<int> order = on_factor_[f];
    do {
      AxisList list;
      for (const int i : order) list.Append(units_[i]);
      if (!MayCut(mesh_, op_, static_cast<int>(f), list)) continue;
      (*axes)[f] = list;
      Order(f + 1, axes);
    } while (std::next_permutation(order.begin(), order.end()));
    (*axes)[f] = AxisList();
  }

  const FlowOp& op_;
  const Mesh& mesh_;
  const AxisUnits& units_;
  const AxisSet reserved_;
  std::vector<int> factors_;
  std::vector<std::vector<int>> on_factor_;
  std::vector<FactorAxesList> found_;
};

}  // namespace

AxisUnits UnitsOf(const Mesh& mesh, const ShardingPlan& plan) {
  constexpr int kUnknown = -1, kNone = -2;
  std::vector<int> next(mesh.num_axes(), kUnknown), previous(mesh.num_axes(), kUnknown);
  const auto note = [](int* known, int axis) {
    *known = *known == kUnknown || *known == axis ? axis : kNone;
  };
  for (const Sharding& sharding : plan) {
    for (const AxisList& list : sharding.dims) {
      for (int i = 0; i < list.size(); ++i) {
        note(&next[list[i]], i + 1 < list.size() ? list[i + 1] : kNone);
        note(&previous[list[i]], i > 0 ? list[i - 1] : kNone);
      }
    }
  }
  AxisUnits units;
  for (int first = 0; first < mesh.num_axes(); ++first) {
    if (next[first] == kUnknown) continue;  // The plan does not use the axis.
    if (previous[first] >= 0 && next[previous[first]] == first) continue;
    AxisList unit = {first};
    for (int axis = first;
         next[axis] >= 0 && previous[next[axis]] == axis && unit.size() < mesh.num_axes();) {
      axis = next[axis];
      unit.push_back(axis);
    }
    units.push_back(unit);
  }
  return units;
}

AxisUnits SingleAxes(const Mesh& mesh) {
  AxisUnits units;
  for (int axis = 0; axis < mesh.num_axes(); ++axis) units.push_back({axis});
  return units;
}

OpChoice ChoiceUnder(const PreparedProgram& program, const FlowOp& op, absl::Span<const AxisList> factor_axes,
                     VersionSets* versions) {
  const Mesh& mesh = program.annotations.mesh;
  const CostModel& cost = program.planner->cost();
  const ShardingRule& rule = *op.rule;
  OpChoice choice;
  choice.factor_axes.assign(factor_axes.begin(), factor_axes.end());
  choice.used = UsedAxes(factor_axes);
  const OpDecision decision = {choice.factor_axes};
  for (size_t i = 0; i < op.operands.size(); ++i) {
    choice.operands.push_back(versions->Number(OperandSharding(program, op, i, decision)));
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    const Sharding made = ResultSharding(program, op, i, decision);
    if (program.graph->shape(op.results[i]).IsArray()) {
      choice.written_bytes += static_cast<double>(LocalBytes(program, op.results[i], made));
    }
    choice.results.push_back(versions->Number(made));
  }
  choice.time = kMemoryWeight * cost.MemoryTime(2 * choice.written_bytes);
  const ExchangePrices::Exchanges& own = program.exchanges->Of(*op.instruction, rule, factor_axes);
  choice.exchanges = &own;
  choice.time += own.time + own.delay;
  choice.sent_bytes = own.sent_bytes;
  choice.collectives = own.collectives;
  choice.flops = LocalFlops(mesh, rule, factor_axes);
  choice.time += cost.ContractionTime(choice.flops).value_or(0);
  return choice;
}

double CountChoices(const PreparedProgram& program, const FlowOp& op, const AxisUnits& units) {
  return Enumeration(program, op, units).Count();
}

std::vector<FactorAxesList> FactorAxesOf(const PreparedProgram& program, const FlowOp& op,
                                         const AxisUnits& units) {
  return Enumeration(program, op, units).All();
}

}  // namespace toroid
