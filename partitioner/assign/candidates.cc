#include "partitioner/assign/candidates.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/base/math.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

class SeedCollector {
 public:
  SeedCollector(const AssignmentProblem& problem, const Mesh& mesh)
      : problem_(problem), rule_(*problem.rule), mesh_(mesh) {}

  std::vector<Seed> Collect() {
    std::vector<Seed> operands;
    for (size_t i = 0; i < problem_.results.size(); ++i) {
      for (const Sharding& place : problem_.results[i].places)
        AddSeed(problem_.results[i], place, rule_.results[i], &seeds_);
    }
    for (size_t i = 0; i < problem_.operands.size(); ++i) {
      if (problem_.operands[i].free) continue;
      for (const Sharding& place : problem_.operands[i].places) {
        AddSeed(problem_.operands[i], place, rule_.operands[i], &operands);
      }
    }
    absl::c_stable_sort(operands, [](const Seed& a, const Seed& b) { return a.bytes > b.bytes; });
    if (operands.size() > 6) operands.resize(6);
    for (Seed& seed : operands) {
      const bool known = absl::c_any_of(seeds_, [&](const Seed& other) { return other.axes == seed.axes; });
      if (!known) seeds_.push_back(std::move(seed));
    }
    return std::move(seeds_);
  }

 private:
  void AddSeed(const TensorView& view, const Sharding& place, const TensorFactors& tensor,
               std::vector<Seed>* seeds) {
    Seed seed;
    seed.axes.resize(rule_.factors.size());
    bool any = false;
    AxisList stuck;     // Axes of dimensions that the op cannot cut, or whose tiles it combines by itself.
    AxisList permuted;  // Axes of dimensions whose cut makes the op move data.
    for (size_t d = 0; d < tensor.size() && d < place.dims.size(); ++d) {
      if (place.dims[d].empty()) continue;
      for (int i = 0; i < tensor[d].size; ++i) {
        const int f = tensor[d].factor[i];
        if (problem_.op != nullptr && !CanCutLocally(*problem_.op, rule_.factors[f].kind)) {
          if (tensor[d].size == 1) stuck.Append(place.dims[d]);
          continue;
        }
        if (CombinesParts(f) && tensor[d].size == 1) stuck.Append(place.dims[d]);
        AxisList axes = FactorAxes(mesh_, rule_, tensor[d], i, place.dims[d]);
        while (!axes.empty() && (axes.Set() & problem_.reserved) != 0) axes.pop_back();
        seed.axes[f] = rule_.Admissible(mesh_, f, axes);
        any |= !seed.axes[f].empty();
        if (MovesData(f)) permuted.Append(seed.axes[f]);
      }
    }
    seed.bytes = view.width;
    for (const int64_t size : view.dims) seed.bytes *= size;
    if (problem_.uneven) AddUnevenSeed(place, tensor, seed, seeds);
    if (any) seeds->push_back(seed);
    // Moving the cut to another dimension may cost less than moving data along this one, as in a concatenate
    // of many pieces. Convolutions are excepted: the few flops that fuller tiles save are not worth moving
    // the image.
    if (!permuted.empty() && rule_.flops_per_point == 0) {
      Seed turned = seed;
      for (size_t f = 0; f < turned.axes.size(); ++f) {
        if (MovesData(f)) turned.axes[f] = AxisList();
      }
      if (MoveStuck(permuted, tensor, &turned)) seeds->push_back(std::move(turned));
    }
    for (size_t f = 0; f < seed.axes.size(); ++f) {
      if (CombinesParts(static_cast<int>(f))) seed.axes[f] = AxisList();
    }
    if (MoveStuck(stuck, tensor, &seed)) seeds->push_back(std::move(seed));
  }

  // Adds `seed` with leading factors cut over the axes of their dimensions, even where these do not divide
  // them.
  void AddUnevenSeed(const Sharding& place, const TensorFactors& tensor, Seed seed,
                     std::vector<Seed>* seeds) const {
    bool any = false;
    for (size_t d = 0; d < tensor.size() && d < place.dims.size(); ++d) {
      if (tensor[d].size == 0 || !rule_.factors[tensor[d].factor[0]].by_halo) continue;
      const int f = tensor[d].factor[0];
      AxisList axes = UnevenAxes(mesh_, rule_, f, place.dims[d]);
      while (!axes.empty() && (axes.Set() & problem_.reserved) != 0) axes.pop_back();
      if (axes.size() <= seed.axes[f].size()) continue;
      for (int i = 1; i < tensor[d].size; ++i) seed.axes[tensor[d].factor[i]] = AxisList();
      seed.axes[f] = axes;
      any = true;
    }
    if (any) seeds->push_back(std::move(seed));
  }

  bool MovesData(size_t factor) const {
    const FactorKind kind = rule_.factors[factor].kind;
    return kind == FactorKind::kPermuting || kind == FactorKind::kExchanged;
  }

  // True if the op's local program combines the results of the factor's tiles by itself: cutting another
  // factor may be cheaper.
  bool CombinesParts(int factor) const {
    return problem_.op != nullptr && rule_.factors[factor].kind == FactorKind::kReduction &&
           !rule_.leaves_partial;
  }

  // Moves the axes `stuck`, which should not cut the dimensions that they cut now, to the dimension with the
  // largest tiles among those that all of them can cut. A sort along a cut dimension then costs an all-to-all
  // to the other dimension, and one back.
  bool MoveStuck(const AxisList& stuck, const TensorFactors& tensor, Seed* seed) const {
    if (stuck.empty() || problem_.op == nullptr || (stuck.Set() & problem_.reserved) != 0) return false;
    int best = -1;
    int64_t most = 0;
    for (const DimFactors& dim : tensor) {
      if (dim.size != 1 || rule_.factors[dim.factor[0]].kind != FactorKind::kPassThrough) continue;
      const int f = dim.factor[0];
      const int64_t tile = rule_.factors[f].size / mesh_.Product(seed->axes[f]);
      if (tile < mesh_.Product(stuck) || tile <= most) continue;
      AxisList axes = seed->axes[f];
      axes.Append(stuck);
      if (rule_.Admissible(mesh_, f, axes) != axes) continue;
      best = f;
      most = tile;
    }
    if (best < 0) return false;
    seed->axes[best].Append(stuck);
    return true;
  }

  const AssignmentProblem& problem_;
  const ShardingRule& rule_;
  const Mesh& mesh_;
  std::vector<Seed> seeds_;
};

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

std::vector<Seed> SeedsOf(const AssignmentProblem& problem, const Mesh& mesh) {
  return SeedCollector(problem, mesh).Collect();
}

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
    const double bytes = static_cast<double>(LocalBytes(mesh_, view.dims, view.width, needed));
    sums->further += pricing_.planner->cost().MemoryTime(bytes);
    bool gathers = false;
    if (cheapest->sent_bytes > 0 && needed.DimAxes() == 0 && !rule_.weighs_gathering &&
        (problem_.op == nullptr || CanTakeParts(*problem_.op, rule_, i))) {
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
    const double bytes = static_cast<double>(LocalBytes(mesh_, view.dims, view.width, natural));
    sums->largest = std::max(sums->largest, bytes);
    sums->further += pricing_.planner->cost().MemoryTime(bytes);
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

}  // namespace toroid
