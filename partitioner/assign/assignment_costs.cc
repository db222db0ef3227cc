#include "partitioner/assign/assignment_costs.h"

#include <algorithm>
#include <utility>

#include "hlo/base/math.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// `wanted`, with its open dimensions cut over all axes that cut them in `natural`, if possible.
Sharding GrownTo(const Sharding& natural, const Sharding& wanted, uint64_t open) {
  Sharding grown = wanted;
  for (size_t d = 0; d < wanted.dims.size(); ++d) {
    const AxisList& own = wanted.dims[d];
    if ((open >> d & 1) == 0 || !own.IsPrefixOf(natural.dims[d])) continue;
    if ((natural.dims[d].Set() & ~own.Set() & (grown.DimAxes() | wanted.partial)) == 0)
      grown.dims[d] = natural.dims[d];
  }
  return grown;
}

}  // namespace

struct AssignmentCosts::Sums {
  double time = 0;     // Of reshardings and own exchanges.
  double further = 0;  // Other costs.
  int64_t sent = 0;
  double replicated = 0;  // Bytes of the largest operand that would be replicated.
  double largest = 0;     // Bytes of the largest other array.
};

void AssignmentCosts::AddOperands(const FactorAxesList& factor_axes, Sums* sums) const {
  const ReshardPlan nothing;
  const AxisSet used = UsedAxes(factor_axes);
  for (size_t i = 0; i < problem_.operands.size(); ++i) {
    const TensorView& view = problem_.operands[i];
    if (view.free || view.places.empty()) continue;
    Sharding needed = ShardingUnder(mesh_, rule_, rule_.operands[i], factor_axes);
    const ReshardPlan* cheapest = nullptr;
    for (const Sharding& place : view.places) {
      needed.manual = place.manual;
      if (place == needed) {
        cheapest = &nothing;
        break;
      }
      const ReshardPlan& plan = pricing_.planner->Plan(view.dims, view.width, place, needed);
      if (cheapest == nullptr || plan.time < cheapest->time) cheapest = &plan;
    }
    sums->time += cheapest->time;
    sums->sent += cheapest->sent_bytes;
    const double bytes = LocalBytes(view, needed);
    sums->further += pricing_.planner->cost().MemoryTime(bytes);
    bool gathers = false;
    if (cheapest->sent_bytes > 0 && needed.DimAxes() == 0 && !rule_.weighs_gathering && CanTakeParts(i)) {
      // Does not count weights all of whose axes now cut other factors of the op: they are meant to be
      // gathered.
      for (const Sharding& place : view.places) gathers |= (place.DimAxes() & ~used) != 0;
    }
    double& most = gathers ? sums->replicated : sums->largest;
    most = std::max(most, bytes);
  }
}

void AssignmentCosts::AddResults(const FactorAxesList& factor_axes, Sums* sums) const {
  const AxisSet partial = PartialAxes(rule_, factor_axes);
  for (size_t i = 0; i < problem_.results.size(); ++i) {
    const TensorView& view = problem_.results[i];
    Sharding natural = ShardingUnder(mesh_, rule_, rule_.results[i], factor_axes);
    natural.partial = partial;
    sums->largest = std::max(sums->largest, LocalBytes(view, natural));
    sums->further += pricing_.planner->cost().MemoryTime(LocalBytes(view, natural));
    Sharding wanted = natural;
    wanted.partial = 0;
    if (!view.places.empty()) wanted = GrownTo(natural, view.places[0], view.open);
    if (wanted.partial & ~partial) wanted.partial = 0;
    natural.manual = wanted.manual;
    natural.reducer = wanted.reducer = Reducer::kAdd;
    if (natural == wanted) continue;
    const ReshardPlan& plan = pricing_.planner->Plan(view.dims, view.width, natural, wanted);
    sums->time += plan.time;
    sums->sent += plan.sent_bytes;
  }
}

void AssignmentCosts::Evaluate(Assignment* candidate) const {
  Sums sums;
  AddOperands(candidate->factor_axes, &sums);
  AddResults(candidate->factor_axes, &sums);
  // If the op's work is cut, replicating an operand of at most half the bytes of the op's largest other
  // array (such as the updates of a scatter) counts by its bytes only.
  candidate->replicates =
      sums.replicated > 0 && (UsedAxes(candidate->factor_axes) == 0 || 2 * sums.replicated > sums.largest);
  if (problem_.op != nullptr) {
    const ExchangePrices::Exchanges& own =
        pricing_.exchanges->Of(*problem_.op, rule_, candidate->factor_axes);
    sums.sent += static_cast<int64_t>(own.sent_bytes);
    sums.time += own.time;
    sums.further += own.delay;
  }
  candidate->flops = LocalFlops(mesh_, rule_, candidate->factor_axes);
  sums.further += pricing_.planner->cost().ContractionTime(candidate->flops).value_or(0);
  candidate->sent_bytes = sums.sent;
  candidate->time = sums.time;
  candidate->cost = sums.time + sums.further;
}

bool AssignmentCosts::IsBetter(const Assignment& a, const Assignment& b) const {
  if (!pricing_.planner->cost().ContractionTime(a.flops).has_value() && a.flops != b.flops) {
    return a.flops * kBytesPerFlop + a.cost < b.flops * kBytesPerFlop + b.cost;
  }
  return std::make_pair(a.replicates, a.cost) < std::make_pair(b.replicates, b.cost);
}

// True if every dimension of an operand can be cut where the op runs.
bool AssignmentCosts::CanTakeParts(size_t operand) const {
  if (problem_.op == nullptr) return true;
  for (const DimFactors& dim : rule_.operands[operand]) {
    bool can = dim.size > 0;
    for (int i = 0; i < dim.size; ++i) can &= CanCutLocally(*problem_.op, rule_.factors[dim.factor[i]].kind);
    if (!can) return false;
  }
  return true;
}

double AssignmentCosts::LocalBytes(const TensorView& view, const Sharding& sharding) const {
  double bytes = static_cast<double>(view.width);
  for (size_t d = 0; d < view.dims.size(); ++d) {
    bytes *= static_cast<double>(CeilOfRatio(view.dims[d], mesh_.Product(sharding.dims[d])));
  }
  return bytes;
}

}  // namespace toroid
